"""The scripts of examples/python, and the programs of docs/python.md, as they are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import needs_trees

ROOT = Path(__file__).parents[2]
NEED_TREES = {"l_shape", "cylinder"}
SCRIPTS = [
    pytest.param(path, marks=needs_trees if path.stem in NEED_TREES else (), id=path.stem)
    for path in sorted((ROOT / "examples" / "python").glob("*.py"))
]


def run(folder, *arguments):
    """A script in a folder of its own, without a window."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_example(script, tmp_path):
    """It ends well."""
    pytest.importorskip("matplotlib")
    run(tmp_path, str(script))


def test_manual(tmp_path):
    """All programs of the manual, one after the other in one process."""
    pytest.importorskip("matplotlib")
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(programs) > 3
    output = run(tmp_path, "-c", "\n".join(programs))
    for line in re.findall(r"^# prints: (.*)$", text, re.M):
        assert line in output


def test_tutorial(tmp_path):
    """The program of the programmer's tutorial prints what stands behind it."""
    text = (ROOT / "docs" / "tutorial-program.md").read_text(encoding="utf-8")
    program, printed = re.search(r"^```python\n(.*?)^```\n+```text\n(.*?)^```", text, re.S | re.M).groups()
    output = run(tmp_path, "-c", program).splitlines()
    assert len(output) == 10
    for line, expected in zip(output, printed.splitlines()):
        assert line.split(", ")[0] == expected.split(", ")[0]
        for word, other in zip(re.findall(r"\d+\.\d+", line), re.findall(r"\d+\.\d+", expected)):
            assert abs(float(word) - float(other)) < 5e-3 * float(other)
