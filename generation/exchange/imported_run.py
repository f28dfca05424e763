"""The run of an import: the file that its turns come from, and the name that it was given."""

from generation.exchange.import_file import SourceFile
from generation.plan.plan import check_name
from generation.store import TurnStore
from generation.turn import Run
from generation.version import tool_version
from rubrics import InputError, short


def imported_run(file: SourceFile, rows: int, name: str | None) -> Run:
    """The same file under the same name is the same run; without a name it is called 'import'.

    Raises InputError for a name that no plan could have either.
    """
    provenance = {
        "tool": f"followupeval {tool_version()}",
        "file": file.path.name,
        "sha256": file.hash,
        "rows": rows,
    }
    if name is not None:
        check_name("run", name)
        if "/" in name or name != name.strip():  # plan/model is the name of a plan's run
            raise InputError(
                f"the name of a run is {name!r}; expected one without '/' and blanks at its ends: "
                "generate import FILE --name NAME"
            )
        provenance["name"] = name
    return Run("import", provenance)


def refuse_taken(store: TurnStore, run: Run) -> None:
    """Raises InputError where the given name means another run already, or a plan with runs."""
    name = run.provenance.get("name")
    taken = store.runs_named(name) if name is not None else []
    if taken and run.run_id not in taken:
        ids = ", ".join(map(short, taken))
        raise InputError(
            f"{name!r} names a run or plan of the study already, or begins its id ({ids}); "
            "expected a name that no other has: generate import FILE --name NAME"
        )
