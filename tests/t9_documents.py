#!/usr/bin/env python3
"""The cases that stand in documents: t9_documents.py PROGRAM (python3 -B tests/t9_documents.py build/tessera).

A block ```yaml of docs/*.md and README.md that has the keys `problem` and `mesh` is a whole case: `tessera check`
must take it. A block ```text behind it that begins with `$ tessera solve NAME ...` is what the program prints: the
command is run, with the case in the file NAME, and each line of the block must be the beginning of a printed line,
numbers to a thousandth (of the largest number of the line where they are nearly zero). Cases are left out whose mesh
file or optional part is not there."""
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MISSING = 3  # exit status: this build lacks a part
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n(?:\n```text\n(\$ tessera solve .*?)^```\n)?", re.S | re.M)


def cases():
    """Place, text of the case, and what is printed (or None) of each whole case."""
    for page in sorted(ROOT.glob("docs/*.md")) + [ROOT / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if re.search(r"^problem:", match[1], re.M) and re.search(r"^mesh:", match[1], re.M):
                yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1], match[2]


def run(program, arguments, folder):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def number(word):
    try:
        return float(word.strip("(),:;"))
    except ValueError:
        return None


def begins(line, expected):
    """Whether the words of a printed line begin with those that are expected."""
    words, wanted = line.split(), expected.split()
    if len(words) < len(wanted):
        return False
    largest = max((abs(number(w)) for w in wanted if number(w) is not None), default=0)
    for word, want in zip(words, wanted):
        if number(want) is None:
            if word.rstrip(",") != want.rstrip(","):
                return False
        elif number(word) is None or not math.isclose(number(word), number(want), rel_tol=1e-3, abs_tol=1e-9 * largest):
            return False
    return True


def check(program, place, case, printed, folder):
    """A list of faults; None where the case cannot run here."""
    command = shlex.split(printed.splitlines()[0][len("$ tessera "):]) if printed else ["check", "case.yaml"]
    name = command[1]
    (folder / name).write_text(case, encoding="utf-8")
    for mesh in ROOT.glob("cases/*.msh"):
        if mesh.name in case:
            shutil.copy(mesh, folder)
    status, out = run(program, command, folder)
    if status == MISSING or re.search(r"mesh.file: .*(cannot|no such)", out, re.I):
        return None
    if status:
        return [f"{place}: tessera {' '.join(command)} ends with {status}:\n{out}"]
    lines = out.splitlines()
    return [f"{place}: not printed: {want}" for want in (printed or "").splitlines()[1:]
            if not any(begins(line, want) for line in lines)]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    assert begins("value  a = 1.0001", "value a = 1") and not begins("value a = 1.01", "value a = 1")
    assert not begins("value a = nan", "value a = 1")
    faults, ran, shown = [], 0, 0
    for place, case, printed in cases():
        with tempfile.TemporaryDirectory() as folder:
            found = check(program, place, case, printed, pathlib.Path(folder))
        shown += printed is not None
        if found is None:
            print(f"left out: {place}")
            continue
        faults += found
        ran += 1
    if shown < 5:
        faults.append(f"only {shown} cases of documents have what they print")
    print("\n".join(faults) if faults else f"{ran} cases of documents, {shown} with what they print")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
