#!/usr/bin/env python3
"""Writes the C source of the extension module from the public headers, so that it cannot differ from them.

    make_binding.py --compiler CC --include DIR --native DIR --source BINDING.c --words WORDS.py

The compiler's preprocessor joins the headers without those of the system, cffi reads the declarations, and WORDS.py
gets the comments of the headers: docstrings and the help of keywords are made of them."""

import argparse
import pprint
import re
import subprocess
import tempfile
from pathlib import Path

import cffi

# What Python does for the library: names as in the declarations of the functions' pointers.
CALLBACKS = """
extern "Python" {
void py_log(void *user, TesLogLevel level, const char *line);
void py_progress(void *user, double part);
void py_monitor(void *user, int iteration, double residual);
void py_evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t, double *out);
void py_release(void *user);
TesStatus py_load(void *user, const TesSpace *space, TesVector *b);
}
"""


def preprocess(compiler, folder, header):
    """The declarations of a header and all that it includes, without the system's."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):  # whose types cffi knows
            Path(empty, name).touch()
        text = subprocess.run(
            [compiler, "-E", "-P", "-nostdinc", "-I", empty, "-I", folder, "-x", "c", header],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return re.sub(r"static inline[^{;]*\{.*?\n\}", "", text, flags=re.S)


def clean(comment):
    """The words of a comment, without stars and with paragraphs."""
    lines = [re.sub(r"^\s*\*( |$)", "", line) for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def in_a_line(comment):
    """The words of the comment of a member."""
    return " ".join(clean(comment).split())


def find_comments(text):
    """{name: comment} of functions, types and, as TYPE.member, of members and constants."""
    words = {}
    for match in re.finditer(r"/\*\* ?(.*?)\*/\s*(?:TES\w* )?[\w\s*]*?\b(tes_\w+)\(", text, re.S):
        if "*/" not in match.group(1):
            words[match.group(2)] = clean(match.group(1))
    for match in re.finditer(r"typedef (?:struct|enum) (\w+) \{(.*?)\n?\} ?\1;", text, re.S):
        name, body = match.groups()
        before = re.search(r"/\*\* ?((?:(?!\*/).)*)\*/\s*$", text[: match.start()], re.S)
        if before:
            words[name] = clean(before.group(1))
        for member in re.finditer(r"(\w+)(?:\[\w*\])*(?:\)\([^;]*\))?[;,]?[ \t]*\n?\s*/\*\*< ?(.*?)\*/", body, re.S):
            words[f"{name}.{member.group(1)}"] = in_a_line(member.group(2))
        for member in re.finditer(r"/\*\* ?([^<].*?)\*/\s*[^;/]*?(\w+)(?:\[\w*\])*(?:\)\([^;]*\))?[;,]", body, re.S):
            words.setdefault(f"{name}.{member.group(2)}", in_a_line(member.group(1)))
    return words


def main():
    """Both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("compiler", "include", "native", "source", "words"):
        parser.add_argument(f"--{option}", required=True)
    arguments = parser.parse_args()
    ffi = cffi.FFI()
    ffi.cdef(preprocess(arguments.compiler, arguments.include, str(Path(arguments.native, "run.h"))))
    ffi.cdef(CALLBACKS)
    ffi.set_source("tessera._binding", '#include "run.h"\n', py_limited_api=True)
    ffi.emit_c_code(arguments.source)
    words = {}
    for header in sorted(Path(arguments.include, "tessera").glob("*.h")):
        if header.name == "petsc.h":  # for programs in C; Python has to_petsc()
            continue
        words.update(find_comments(header.read_text(encoding="utf-8")))
    Path(arguments.words).write_text(
        '"""Comments of the public headers, by name."""\n' f"WORDS = {pprint.pformat(words, width=116)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
