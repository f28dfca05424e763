"""One of our commands in a process of its own, which says how it ended in a file."""

import importlib
import signal
import sys
from pathlib import Path

_ENTRIES = {"judge": ("judge.cli", "judge"), "calibrate": ("judge.calibration.cli", "calibrate")}


def main(code_file: str, verb: str, *arguments: str) -> None:
    """Run `verb` with these arguments and write its exit code to `code_file`."""
    # Where the page was started in the background, the interrupt is ignored; here it must work.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module, name = _ENTRIES[verb]
    sys.argv = [verb, *arguments]
    code = 1
    try:
        getattr(importlib.import_module(module), name)()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:  # before the command could take it
        code = 130
    finally:
        Path(code_file).write_text(str(code))


if __name__ == "__main__":
    main(*sys.argv[1:])
