#!/usr/bin/env python3
"""Compares the public headers with what the library exports. Usage: check_symbols.py INCLUDE_FOLDER LIBRARY

- Every function that a header declares is there.
- Every exported name is a function that a header declares: all else is hidden (cmake/public_names.map).
Prints one line a violation; the exit status is 1 when there are any."""
import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARATION = re.compile(r"\b(tes_\w+)\s*\(")
HEADERS_ALONE = {"petsc.h"}  # functions that the calling program compiles
INLINE = re.compile(r"\bstatic inline [^;{]*\{.*?^\}", re.S | re.M)  # has no symbol
LINKER = {"__bss_start", "_edata", "_end"}  # exported by ld when a library that is linked to refers to them


def declared(folder):
    """Names of the functions in the headers; macros and callbacks have other names."""
    paths = (path for path in sorted(Path(folder).rglob("*.h")) if path.name not in HEADERS_ALONE)
    texts = (COMMENT.sub("", path.read_text(encoding="utf-8")) for path in paths)
    texts = (INLINE.sub("", text) for text in texts)
    return {name for text in texts for name in DECLARATION.findall(text)}


def exported(library):
    """Names that the library defines for others."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines()}


def violations(declarations, exports):
    """All differences."""
    for name in sorted(declarations - exports):
        yield f"{name} is declared and not there"
    for name in sorted(exports - declarations):
        if name not in LINKER:
            yield f"{name} is exported and in no header"


def main():
    found = list(violations(declared(sys.argv[1]), exported(sys.argv[2])))
    print("\n".join(found) if found else "symbols: right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
