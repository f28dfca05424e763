"""The script that HOSTING.md gives for a Hugging Face Space, run over a folder of this machine."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import annotator

TEXT = (Path(annotator.__file__).parent / "HOSTING.md").read_text()
# A command of the same words: a sound labels.db is one that says so.
ANNOTATE = """#!/bin/sh
case $1 in
    restore) grep -q sound "$2" && mkdir -p study && cp "$2" study/labels.db ;;
    backup) test -e "$2" && exit 1; cp study/labels.db "$2" ;;
    serve) echo serving; exec cat "$WORK/until" ;;
esac
"""


def script(bucket):
    block = re.search(r"`start.sh`:\n\n((?:    .*\n|\n)+)", TEXT).group(1)
    text = "\n".join(line.removeprefix("    ") for line in block.splitlines())
    assert "/data/labels-" in text
    assert "sleep 600" in text
    return text.replace("/data/", f"{bucket}/").replace("sleep 600", "sleep 0.05")


@pytest.fixture
def space(tmp_path):
    """Gives a function that starts the script, with its own study and the bucket."""
    bin_, bucket, work = (tmp_path / name for name in ("bin", "bucket", "work"))
    for folder in (bin_, bucket, work):
        folder.mkdir()
    (bin_ / "annotate").write_text(ANNOTATE)
    (bin_ / "annotate").chmod(0o755)
    os.mkfifo(work / "until")  # nobody ever writes to it
    (work / "start.sh").write_text(script(bucket))
    started = []

    def start():
        found = subprocess.Popen(
            ["sh", "start.sh"],
            cwd=work,
            env={
                "PATH": f"{bin_}:{os.environ['PATH']}",
                "WORK": str(work),
                "SPACE_HOST": "x",
                "TMPDIR": str(work),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        started.append(found)
        while b"serving" not in found.stdout.readline():
            assert found.poll() is None
        return found

    yield start, bucket, work
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(process, found):
    """The script goes on writing lines or ends; a copy comes every twentieth of a second."""
    while not found():
        assert process.poll() is None


def newest(bucket):
    return sorted(bucket.glob("labels-*.db"))[-1].read_text()


def test_it_starts_from_the_newest_copy_that_is_whole_and_keeps_the_last_word(space):
    start, bucket, work = space
    (bucket / "labels-0.db").write_text("sound, and old")
    (bucket / "labels-20260101T000000-1.db").write_text("sound")
    (bucket / "labels-20260102T000000-1.db").write_text("cut sho")
    process = start()
    assert (work / "study" / "labels.db").read_text() == "sound"
    (work / "study" / "labels.db").write_text("sound, and labelled")
    wait_for(process, lambda: newest(bucket) == "sound, and labelled")
    (work / "study" / "labels.db").write_text("sound, to the last label")
    process.terminate()
    assert process.wait(30) == 0
    assert newest(bucket) == "sound, to the last label"


def test_a_copy_that_could_not_be_kept_hinders_no_later_one(space):
    start, bucket, work = space
    (bucket / "labels-0.db").write_text("sound")
    mv = work.parent / "bin" / "mv"  # fails once
    mv.write_text(f"#!/bin/sh\ntouch {work}/failed\nrm {mv}\nexit 1\n")
    mv.chmod(0o755)
    process = start()
    wait_for(process, lambda: (work / "failed").exists())
    wait_for(process, lambda: len(list(bucket.glob("labels-2*.db"))) > 0)
    process.terminate()
    assert process.wait(30) == 0
    assert not list(bucket.glob("part-*"))


def test_a_disk_that_kept_its_labels_is_not_set_back(space):
    start, bucket, work = space
    (bucket / "labels-0.db").write_text("sound")
    (work / "study").mkdir()
    (work / "study" / "labels.db").write_text("sound, and newer")
    process = start()
    wait_for(process, lambda: len(list(bucket.glob("labels-2*.db"))) > 0)
    process.terminate()
    assert process.wait(30) == 0
    assert newest(bucket) == "sound, and newer"
