"""./run with a wheel: its program where the commit is the same, else a build."""

import platform
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def git(folder, *arguments):
    """What git prints."""
    who = ["-c", "user.name=n", "-c", "user.email=e"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path):
    """A repository with ./run, and dist/ with a wheel whose program tells its arguments."""
    if not shutil.which("git"):
        pytest.skip("no git")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "run", tmp_path)
    shutil.copy(ROOT / "tools" / "setup.sh", tmp_path / "tools")
    # ./run without a wheel installs and builds, which is told here
    with open(tmp_path / "tools" / "setup.sh", "a", encoding="ascii") as file:
        file.write("ensure_packages() { die 'it would build'; }\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "all")
    (tmp_path / "dist").mkdir()
    wheel = tmp_path / "dist" / f"tessera-0.2.0-cp39-abi3-manylinux_2_36_{platform.machine()}.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tessera/bin/tessera", '#!/bin/sh\necho "$@"\n')
    (tmp_path / "dist" / "commit").write_text(git(tmp_path, "rev-parse", "HEAD"))
    return tmp_path


def run(folder, *arguments):
    """Status and what it prints."""
    done = subprocess.run([str(folder / "run"), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_wheel_of_this_commit(clone):
    """Its program solves the case that is asked for, with all options."""
    for _ in range(2):
        status, text = run(clone, "a.yaml", "--vtu", "a b.vtu")
        assert status == 0 and text.endswith("solve a.yaml --vtu a b.vtu\n") and "a wheel of this commit" in text
    assert run(clone)[1].endswith(f"solve {clone}/cases/poisson-cube.yaml\n")


def test_other_wheels_are_left(clone):
    """Of another commit, of changed files, of another processor, none."""
    commit = clone / "dist" / "commit"
    for change in (
        lambda: commit.write_text("0123\n"),
        lambda: (commit.write_text(git(clone, "rev-parse", "HEAD")), (clone / "run").open("a").write("# more\n")),
        lambda: git(clone, "checkout", "-q", "run") or next(clone.glob("dist/*.whl")).rename(clone / "dist" / "x.whl"),
    ):
        change()
        assert run(clone) == (3, "it would build\n")
