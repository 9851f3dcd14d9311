#!/usr/bin/env python3
"""Checks what no compiler sees. Usage: check_tree.py [ROOT]

- No source file is longer than MAX_LINES.
- No word of unfinished work, no path of one machine.
- No line of code or comment is wider than MAX_COLUMNS; lines of documents but for tables, code and links.
- No tabs and no white space at the end of a line, a newline at the end of each file.
- Public functions have a comment, or stand in a block of declarations below one (tes_<noun>_destroy: as in tessera.h);
  they begin with tes_.
- No public function, type or header says forest: a forest is a kind of mesh (decision 14).
- Loops over threads in src/ are those of base/team.h: no `omp parallel` (decision 15).
- Source files have names of their own in src/: none stands twice, and none is called op_.
- Links of the documents lead somewhere, and so do names of documents anywhere (docs/NAME.md).
- Tests of GPUs are in the lists of what checks a GPU.
- The rules of the architecture that a text shows: check_rules.py.
Prints one line a violation; the exit status is 1 when there are any."""
import re
import subprocess
import sys
from pathlib import Path

import check_rules

MAX_LINES = 600
MAX_COLUMNS = 120
SOURCES = {".c", ".h", ".cu", ".py", ".sh"}
TEXTS = SOURCES | {".md", ".txt", ".yaml", ".cmake", ".1", ".in", ""}
# Written in pieces, so that this file passes its own check.
UNFINISHED = re.compile("|".join((r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bXX" r"X\b", r"\bHA" r"CK\b",
                                  r"not (yet )?imple" r"mented", r"^\s*#if" r" 0\b")))
MACHINE = re.compile(r"(?<![\w.~}])/(?:home|root|work|Users)" r"/\w")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
DOCUMENT = re.compile(r"(?<![\w/.])docs/[\w/-]+\.md")
GPU_TEST = re.compile(r"\btest_device\(|TESSERA_TEST_DEVICE")
GPU_LISTS = ("tools/bundle_gpu.sh", "tools/bundle_sanitize.sh")
REGION = re.compile(r"\bomp +(?:parallel|for|barrier)\b")
KIND_IN_NAME = re.compile(r"\b(?:tes_\w*forest\w*|Tes\w*Forest\w*)")
DECLARATION = re.compile(r"^(?!typedef|struct|enum|#|\s|/|\*|extern)\w[\w\s*]*?\b(\w+)\(")


def files(root):
    """Files under version control and new ones; all outside build folders when there is no git."""
    try:
        listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                                 text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        inside = (path for path in root.rglob("*")
                  if not re.match(r"build|dist|\.git$", path.relative_to(root).parts[0]))
        return [path for path in inside if path.is_file()]
    return [root / name for name in listing.stdout.splitlines() if (root / name).is_file()]


def check_lines(name, path, lines):
    """Length, unfinished work, white space."""
    if path.suffix in SOURCES and len(lines) > MAX_LINES:
        yield f"{name}: {len(lines)} lines, at most {MAX_LINES} are wanted"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: unfinished work: {line.strip()[:80]}"
        if MACHINE.search(line):
            yield f"{name}:{number}: a path of one machine: {line.strip()[:80]}"
        if line != line.rstrip() or (path.suffix in SOURCES and "\t" in line):
            yield f"{name}:{number}: white space"


def check_columns(name, path, lines):
    """Width: of code everywhere, of documents where the text could be broken."""
    code = False
    for number, line in enumerate(lines, 1):
        if path.suffix == ".md":
            code ^= line.lstrip().startswith("```")
            if code or line.startswith(("|", "    ")) or " " not in line[:MAX_COLUMNS] or "](" in line:
                continue
        elif path.suffix not in SOURCES:
            continue
        if len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"


def check_header(name, lines):
    """Public functions have a comment; a block of declarations shares the comment above it."""
    documented = False
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith("*/"):
            documented = True
        elif not line.strip():
            documented = False
        match = DECLARATION.match(line)
        if match and not documented and not match.group(1).endswith("_destroy"):
            yield f"{name}:{number}: {match.group(1)} has no comment"
        if match and not match.group(1).startswith("tes_"):
            yield f"{name}:{number}: {match.group(1)} does not begin with tes_"


def check_kinds(name, lines):
    """Kinds stand inside a noun, not in the names of the library."""
    if "forest" in name.stem:
        yield f"{name}: a public header of one kind of mesh"
    for number, line in enumerate(lines, 1):
        for match in KIND_IN_NAME.findall(line):
            yield f"{name}:{number}: {match} says forest, a kind of mesh"


def check_threads(name, lines):
    """Waiting threads of OpenMP leave no room for others."""
    for number, line in enumerate(lines, 1):
        if REGION.search(line):
            yield f"{name}:{number}: a loop of OpenMP: base/team.h has those of the library"


def check_names(names):
    """Files of src/ by name, and what stands at the root: a case that is run there leaves files."""
    seen = {}
    for name in names:
        if len(name.parts) == 1 and name.suffix in (".log", ".png", ".csv", ".json"):
            yield f"{name}: what a program wrote, at the root"
        if name.parts[0] != "src" or name.suffix != ".c":
            continue
        if name.name.startswith("op_"):
            yield f"{name}: files are called after their kind, without op_"
        if name.name in seen:
            yield f"{name}: stands twice, see {seen[name.name]}"
        seen[name.name] = name


def check_links(root, name, path, lines):
    """Relative links of a document."""
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            if not (path.parent / target).exists() and not (root / target).exists():
                yield f"{name}:{number}: the link to {target} leads nowhere"


def check_site(root, name):
    """Pages of docs/ stand in the contents of the site."""
    contents = root / "site/make.py"
    if name.parent == Path("docs") and f'"{name.stem}"' not in contents.read_text(encoding="utf-8"):
        yield f"{name}: not among the sections of site/make.py"


def check_documents(root, name, lines):
    """Names of documents, in code and prose."""
    if name.parts[0] == "tools":  # whose tests plant faults
        return
    for number, line in enumerate(lines, 1):
        for target in DOCUMENT.findall(line):
            if not (root / target).exists():
                yield f"{name}:{number}: there is no {target}"


def check_gpu_lists(root, name, path, text):
    """A test of GPUs begins a line of each list."""
    if name.parts[0] != "tests" or path.suffix != ".c" or not GPU_TEST.search(text):
        return
    begins = re.compile(rf'(^|"){path.stem} ', re.M)
    missing = [script for script in GPU_LISTS
               if not (root / script).exists() or not begins.search((root / script).read_text(encoding="utf-8"))]
    if missing:
        yield f"{name}: a test of GPUs, not in {' and '.join(missing)}"


def violations(root):
    """All violations below root."""
    names = sorted(path.relative_to(root) for path in files(root))
    yield from check_names(names)
    yield from check_rules.violations(root, names)
    for path in files(root):
        if path.suffix not in TEXTS or path.name in ("LICENSE",) or "corpus" in path.parts:
            continue
        name = path.relative_to(root)
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")
        if text and not text.endswith("\n"):
            yield f"{name}: no newline at the end"
        yield from check_lines(name, path, lines[:-1])
        yield from check_columns(name, path, lines[:-1])
        if name.parts[:2] == ("include", "tessera"):
            yield from check_header(name, lines)
            yield from check_kinds(name, lines)
        if name.parts[0] == "src":
            yield from check_threads(name, lines)
        yield from check_documents(root, name, lines)
        yield from check_gpu_lists(root, name, path, text)
        if path.suffix == ".md":
            yield from check_links(root, name, path, lines)
            yield from check_site(root, name)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = list(violations(root))
    print("\n".join(found) if found else "tree: right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
