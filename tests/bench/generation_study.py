"""Studies and data files at full size, for the generation benchmark. All texts are made up."""

import csv
import json
from datetime import date
from pathlib import Path

CELLS = 40  # turns per answer
DATE = "2026-11-30"


def fill_study(folder: Path, model_folder: Path, rows: int) -> Path:
    """A study whose plan's turns are all stored, `rows` of them; returns the plan's file.

    The ids are those that the product computes; the texts stand for what an engine said.
    """
    from generation.chat.chat_model import load_chat_model
    from generation.datasets.open_dataset import open_dataset
    from generation.plan.plan import DatasetPlan, ModelPlan, Plan, Sweep
    from generation.plan.plan_file import plan_text
    from generation.probe.answer_stage import AnswerStage
    from generation.probe.row_store import open_rows
    from generation.probe.run_plan import ALL, run_provenance
    from generation.probe.start import first_starts
    from generation.probe.turn_stage import TurnStage
    from generation.turn import Answer, Run, Turn

    questions = folder / "gsm8k_test.jsonl"
    _write(questions, ({"question": f"{n} + {n}?", "answer": f"#### {2 * n}"}
                       for n in range(rows // CELLS)))  # fmt: skip
    temperatures = tuple(round(0.1 * step, 1) for step in range(1, 11))
    plan = Plan(
        "stored",
        (ModelPlan(str(model_folder), "small"),),
        (DatasetPlan("gsm8k", "gsm8k", str(questions)),),
        (Sweep(temperatures=temperatures, samples=CELLS // len(temperatures)),),
        DATE,
    )
    model = load_chat_model(
        model_folder, name="small", day=date.fromisoformat(DATE), template_kwargs={}
    )
    datasets = [open_dataset(plan.datasets[0], None)]
    run = Run("probe", run_provenance(plan, plan.models[0], model, datasets))
    store = open_rows(folder / "study" / "pipeline.db")
    starts = list(first_starts(plan, datasets, ALL))
    stage = AnswerStage(model, plan)
    answers = [
        Answer(start.conversation, "4", model="small", temperature=0.0, row_id=stage.row_id(start))
        for start in starts
    ]
    store.turns.add_answers(run, answers)
    by_id = {a.answer_id: a for a in answers}
    turns_stage = TurnStage(store, model, plan)
    missing = turns_stage.planned(starts, turns_stage.answers_of(starts, run), set()).missing
    turns = (
        Turn(
            by_id[row.answer_id],
            "Why?",
            "self-generated",
            model="small",
            temperature=row.cell.draw.temperature,
            sample_index=row.cell.draw.sample_index,
            context_mode="history",
            row_id=row.row_id,
        )
        for row in missing
    )
    store.turns.add_turns(run, turns)
    store.score((a.answer_id for a in answers), again=False)
    store.close()
    path = folder / "stored.toml"
    path.write_text(plan_text(plan), encoding="utf-8")
    return path


def write_paper_data(folder: Path) -> Path:
    """Files of the paper's data sets with as many rows as it had, of about their lengths."""
    folder.mkdir(parents=True)
    text = "How much does it cost in all, and why? " * 8
    _write(folder / "gsm8k_test.jsonl",
           ({"question": f"{n}: {text}", "answer": f"#### {n}"} for n in range(1319)))  # fmt: skip
    for name, count, kind in (
        ("ifeval_input_data.jsonl", 541, "punctuation:no_comma"),
        ("IFBench_test.jsonl", 300, "count:word_count_range"),
    ):
        _write(folder / name, (
            {"key": n, "prompt": f"{n}: {text}", "instruction_id_list": [kind], "kwargs": [{}]}
            for n in range(count)
        ))  # fmt: skip
    for name, count in (("gpqa_main.csv", 448), ("gpqa_diamond.csv", 198)):
        columns = ["Record ID", "Question", "Correct Answer",
                   *(f"Incorrect Answer {n}" for n in (1, 2, 3))]  # fmt: skip
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([f"r{n}", f"{n}: {text}", *"abcd"] for n in range(count))
    chat = [("user", text), ("assistant", text * 4), ("user", "And then?")]
    _write(folder / "2025-05-07-06-14-12_oss_eval.jsonl", (
        {"prompt_id": f"p{n}", "prompt": [
            {"role": role, "content": f"{n}: {said}"} for role, said in chat]}
        for n in range(1470)
    ))  # fmt: skip
    _write(folder / "comparisons.jsonl", (
        {"prompt_id": f"p{n}",
         "prompt": {"messages": [{"role": "user", "content": f"{n}: {text}"}]},
         "responses": [
             {"response_index": i, "messages": [{"role": "assistant", "content": f"{i}: {text}"}]}
             for i in range(4)]}
        for n in range(1078)
    ))  # fmt: skip
    return folder


def _write(path: Path, rows) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
