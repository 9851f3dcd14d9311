#!/usr/bin/env python3
"""Checks the include rules. Usage: check_includes.py [ROOT]

- A folder of src/ includes only itself and folders before it in ORDER; every folder is in ORDER.
- src/kernels/ is device text: it includes only its own files. As it depends on nothing, device/ may include it (the
  emulator runs it), though it stands later in the order.
- A public header includes only public headers and system headers.
- The program (cli/) and the examples include public headers, system headers and files of their own folder.
- Header guards are TESSERA_<NAME>_H (public), TESI_<NAME>_H or TESI_<FOLDER>_<NAME>_H (private; TESK_ in src/kernels/),
  <NAME> from the file's name, each used once. Bodies that are included several times have none: they
  are named *_body.h, or say in their first lines what they are "included with".
Prints one line a violation; the exit status is 1 when there are any."""
import re
import sys
from pathlib import Path

ORDER = ("base parallel device kernels basis tensor mesh geometry space functional operator smoother transfer "
         "multigrid krylov time problem io").split()
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = {".c", ".h", ".cu"}


def includes(path):
    """Yields (line number, file name, whether it stands in quotes)."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def check_private(root, path):
    """One file of src/."""
    folder = path.relative_to(root / "src").parts[0]
    if folder not in ORDER:
        yield f"{path.relative_to(root)}: folder src/{folder} is not in the include order"
        return
    for number, name, quoted in includes(path):
        where = f"{path.relative_to(root)}:{number}"
        if not quoted:
            if name.startswith("tessera/"):
                yield f"{where}: <{name}> is written \"{name}\" inside the library"
            continue
        if (path.parent / name).is_file():
            target = (path.parent / name).resolve()
        elif (root / "src" / name).is_file():
            target = (root / "src" / name).resolve()
        elif name.startswith("tessera/") and (root / "include" / name).is_file():
            if folder == "kernels":
                yield f"{where}: kernels include only kernels, not {name}"
            continue
        else:
            # A file that does not stand in the tree is judged by its name; "embedded_kernels.h" and the like are built.
            target = root / "src" / name if "/" in name else path
        other = target.relative_to(root / "src").parts[0]
        if folder == "kernels" and other != "kernels":
            yield f"{where}: kernels include only kernels, not {name}"
        elif other not in ORDER:
            yield f"{where}: {name} is of a folder that is not in the include order"
        elif ORDER.index(other) > ORDER.index(folder) and (folder, other) != ("device", "kernels"):
            yield f"{where}: {folder}/ may not include {name}: {other}/ comes later"


def check_public(root, path):
    """One public header."""
    for number, name, quoted in includes(path):
        if quoted and not (path.parent / name).is_file():
            yield f"{path.relative_to(root)}:{number}: a public header includes the private {name}"


def check_user(root, path):
    """One file of the program or the examples."""
    for number, name, quoted in includes(path):
        public = name.startswith("tessera/") and (root / "include" / name).is_file()
        if (quoted or name.startswith("tessera/")) and not public and not (path.parent / name).is_file():
            yield f"{path.relative_to(root)}:{number}: {name} is not of include/tessera"


def check_guard(root, path, prefix, seen):
    """The guard of one header."""
    text = path.read_text(encoding="utf-8")
    if path.name.endswith("_body.h") or "included with" in " ".join(text.splitlines()[:5]):
        return
    name, stem = path.relative_to(root), re.sub(r"\W", "_", path.stem).upper()
    folder = re.sub(r"\W", "_", path.parent.name).upper()
    allowed = {f"{prefix}{stem}_H", f"{prefix}{folder}_{stem}_H"}
    match = re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M)
    if not match or match.group(1) not in allowed:
        yield f"{name}: the header guard is not {min(allowed, key=len)}"
    elif match.group(1) in seen:
        yield f"{name}: has the header guard of {seen[match.group(1)]}"
    else:
        seen[match.group(1)] = name


def violations(root):
    """All violations below root."""
    seen = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SOURCES:
            yield from check_private(root, path)
            if path.suffix == ".h":
                prefix = "TESK_" if path.is_relative_to(root / "src" / "kernels") else "TESI_"
                yield from check_guard(root, path, prefix, seen)
    for folder in ("cli", "examples"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            yield from check_user(root, path)
    for path in sorted((root / "include" / "tessera").rglob("*.h")):
        yield from check_public(root, path)
        yield from check_guard(root, path, "TESSERA_", seen)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = list(violations(root))
    print("\n".join(found) if found else "include order: right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
