"""What a draw did, in words."""

from dataclasses import asdict, dataclass

from judge.calibration.sampling.design import STRATIFIED, Sample


@dataclass(frozen=True)
class Drawing:
    """What `draw_sample` did: the sample, and how many blind items were handed over.

    `before` is how many items had been drawn already, 0 if none; `new_repeats` counts those of the
    items handed over that annotators have under another id.
    """

    sample: Sample
    before: int
    handed_over: int
    new_repeats: int = 0

    @property
    def known(self) -> bool:
        """Whether the sample was there already, as it is."""
        return self.before == self.sample.drawn

    def as_text(self) -> str:
        """One line on what was done."""
        sample = self.sample
        what = f"{sample.drawn} of {sample.population} distinct items"
        if sample.method == STRATIFIED:
            what += f", {sample.design}"
        what += f", seed {sample.seed}"
        if sample.repeats:
            what += f"; {sample.repeats} of them twice, the second time under another id"
        if self.known:
            done = f"already there: a random sample of {what}"
            if self.new_repeats:
                done += f"; newly repeated: {self.new_repeats}"
            if mended := self.handed_over - self.new_repeats:
                done += f"; missing in labels.db and now put into it: {mended}"
        elif self.before:
            done = f"sample extended from {self.before} items: {what}"
        else:
            done = f"sample drawn at random: {what}"
        return f"{done}; {sample.caveat}" if sample.caveat else done

    def as_dict(self) -> dict[str, object]:
        return {
            "sample": asdict(self.sample),
            "drawn_before": self.before,
            "handed_over": self.handed_over,
            "caveat": self.sample.caveat,
        }
