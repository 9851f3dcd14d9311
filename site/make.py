#!/usr/bin/env python3
"""Makes the static site from the documents of the repository: `ninja site`.

    site/make.py BUILD [--program build/tessera]

Nothing is written here that stands in a document: README.md is the first page, docs/*.md are the others. Links to
files of the repository become pages with their text. The gallery has each case with its picture: that of
docs/pictures, or what the program makes within some seconds. References come from the headers (doxygen, breathe) and
from the Python package (autodoc). At the end every link inside the site is followed.
BUILD/site/html/index.html is the result."""

import argparse
import html.parser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 6  # that a case may take for its picture
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
LANGUAGES = {".yaml": "yaml", ".py": "python", ".c": "c", ".h": "c", ".sh": "sh", ".json": "json", ".cmake": "cmake"}
SECTIONS = [
    ("Start", ["tutorial-bracket", "tutorial-cylinder", "tutorial-program", "gallery"]),
    ("Coming from elsewhere", ["other-programs", "choosing", "limits"]),
    ("Problems", ["poisson", "dg", "transport", "elasticity", "stokes", "navier-stokes", "time"]),
    ("Meshes and solvers", ["meshes", "adaptive", "direct", "parallel"]),
    ("Reference", ["case-file", "report", "support", "python", "petsc", "reference-python", "reference-c"]),
    (
        "Performance",
        [
            "performance",
            "performance-h200",
            "performance-h100",
            "performance-cpu-avx512",
            "performance-cpu-avx2",
            "papers",
        ],
    ),
    ("Inside", ["architecture", "notation", "gpu-checks", "decisions/README"]),
]


class Stage:
    """The folder of sources that Sphinx gets."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "_static").mkdir(parents=True)

    def name_of(self, path):
        """Where a file of the repository is a page; None: it is staged as it is."""
        relative = path.relative_to(ROOT)
        if path == ROOT / "README.md":
            return Path("index.md")
        if relative.parts[0] == "docs" and path.suffix == ".md":
            return Path(*relative.parts[1:])
        if relative.parts[0] == "docs" and path.suffix in (".png", ".svg"):
            return Path(*relative.parts[1:])
        page = Path("files") / f"{relative.as_posix()}.md"
        self.files[page] = path
        return page

    def rewrite(self, text, origin, page):
        """Links of a document as links of its page."""

        def turn(match):
            before, target, behind = match.groups()
            if re.match(r"[a-z]+:|#|<", target):
                return match.group()
            name, _, anchor = target.partition("#")
            path = (origin.parent / name).resolve()
            if not path.exists():
                raise SystemExit(f"{origin}: a dead link, {target}")
            there = os.path.relpath(self.name_of(path), page.parent)
            return f"{before}{there}{'#' + anchor if anchor else ''}{behind}"

        return LINK.sub(turn, text)

    def write(self, page, text):
        """A page."""
        (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / page).write_text(text, encoding="utf-8")

    def document(self, path, more=""):
        """A document as a page."""
        page = self.name_of(path)
        self.write(page, self.rewrite(path.read_text(encoding="utf-8"), path, page) + more)

    def write_files(self):
        """Pages of the files that documents name."""
        for page, path in sorted(self.files.items()):
            relative = path.relative_to(ROOT).as_posix()
            if path.is_dir():
                names = sorted(p.name + "/" * p.is_dir() for p in path.iterdir())
                body = "\n".join(f"- {name}" for name in names)
            elif path.suffix == ".md":
                body = "`````markdown\n" + path.read_text(encoding="utf-8") + "\n`````"
            else:
                text = path.read_bytes().decode("utf-8", "replace")[:100000]
                body = f"`````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n`````"
            self.write(page, f"---\norphan: true\n---\n# {relative}\n\n{body}\n")


def contents():
    """The lists of pages at the side."""
    text = ""
    for caption, pages in SECTIONS:
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
    return text


def picture_of(case, folder, program):
    """The picture of a case; None: there is none within some seconds."""
    kept, made = ROOT / "docs" / "pictures" / f"{case.stem}.png", folder / f"{case.stem}.png"
    if kept.exists():
        return kept
    if not made.exists() and program:
        command = [program, "solve", str(case), "--png", str(made), "--quiet", "--set", "output=null"]
        try:
            subprocess.run(command, cwd=folder, timeout=SECONDS, check=False, capture_output=True)
        except subprocess.TimeoutExpired:
            made.unlink(missing_ok=True)
    return made if made.exists() else None


def describe(case):
    """The words above a case, without what is to be typed."""
    words = []
    for line in case.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") or line.startswith("#   tessera"):
            break
        words.append(line.lstrip("# "))
    return " ".join(words)


def gallery(stage, build, program):
    """A page of cases with pictures."""
    made = build / "pictures"
    made.mkdir(parents=True, exist_ok=True)
    figures = []
    for case in sorted((ROOT / "cases").glob("*.yaml")):
        picture = picture_of(case, made, program)
        if not picture:
            continue
        page = stage.name_of(case)
        shutil.copy(picture, stage.folder / "_static" / f"{case.stem}.png")
        link = page.with_suffix(".html").as_posix()
        figures.append(
            f'<figure><a href="{link}"><img src="_static/{case.stem}.png" alt="{case.stem}" loading="lazy"></a>'
            f"<figcaption><b>{case.stem}</b>: {html_text(describe(case))}</figcaption></figure>"
        )
    head = (
        "# Gallery\n\nEach picture is made by its case: `tessera solve cases/NAME.yaml --png NAME.png`. "
        "A picture leads to the text of the case.\n\n"
    )
    stage.write(Path("gallery.md"), head + '<div class="gallery">\n' + "\n".join(figures) + "\n</div>\n")
    return len(figures)


def html_text(text):
    """Text inside HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def references(stage):
    """Pages of the headers and of the Python package."""
    headers = sorted((ROOT / "include" / "tessera").glob("*.h"))
    body = "".join(f"\n## {h.name}\n\n```{{doxygenfile}} {h.name}\n:project: tessera\n```\n" for h in headers)
    stage.write(Path("reference-c.md"), "# C reference\n\nThe public headers, which are the manual.\n" + body)
    package = (ROOT / "python/tessera/__init__.py").read_text(encoding="utf-8")
    errors = re.findall(r"\w+", re.search(r"^from \._core import Context, (.*)$", package, re.M).group(1))
    names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", package, re.S).group(1))
    functions = [name for name in names if name.islower()]
    classes = [name for name in names if not name.islower() and name not in errors]
    solve = "".join(f"\n```{{eval-rst}}\n.. autofunction:: tessera.{name}\n```\n" for name in functions)
    rows = "".join(
        f"\n## {name}\n\n```{{eval-rst}}\n.. autoclass:: tessera.{name}\n   :members:\n"
        "   :inherited-members: Noun\n   :special-members: __call__\n```\n"
        for name in classes
    )
    errors = "".join(f"\n```{{eval-rst}}\n.. autoexception:: tessera.{name}\n```\n" for name in errors)
    stage.write(
        Path("reference-python.md"),
        f"# Python reference\n\nWith examples: [the manual](python.md).\n{solve}{rows}\n## Errors\n{errors}",
    )


def doxygen(build):
    """XML of the headers."""
    settings = (
        f'INPUT="{ROOT}/include/tessera"\nOUTPUT_DIRECTORY="{build}"\nGENERATE_XML=YES\nGENERATE_HTML=NO\n'
        "GENERATE_LATEX=NO\nEXTRACT_ALL=YES\nOPTIMIZE_OUTPUT_FOR_C=YES\nJAVADOC_AUTOBRIEF=YES\nQUIET=YES\n"
        f'TYPEDEF_HIDES_STRUCT=YES\nSORT_MEMBER_DOCS=NO\nSTRIP_FROM_PATH="{ROOT}/include"\nMACRO_EXPANSION=YES\n'
    )
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    return build / "xml"


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Of each element."""
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            if name in ("href", "src") and value and tag in ("a", "img", "link", "script"):
                self.links.append(value)


def dead_links(folder):
    """Each link inside the site that leads nowhere."""
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.exists():
                yield f"{path.relative_to(folder)}: {link}"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{path.relative_to(folder)}: {link}: no such anchor"


def version():
    """Of the project."""
    return re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def main():
    """Stages, builds, checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--program", default=None, help="makes pictures that docs/pictures does not have")
    arguments = parser.parse_args()
    build = arguments.build.resolve() / "site"
    stage = Stage(build / "source")
    stage.document(ROOT / "README.md", contents())
    for path in sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "decisions").glob("*.md")):
        stage.document(path)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in (".png", ".svg"):
            target = stage.folder / path.relative_to(ROOT / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    program = Path(arguments.program).resolve() if arguments.program else None
    pictures = gallery(stage, build, program)
    references(stage)
    stage.write_files()
    decisions = "\n".join(p.stem for p in sorted((ROOT / "docs" / "decisions").glob("0*.md")))
    with open(stage.folder / "decisions" / "README.md", "a", encoding="utf-8") as page:
        page.write(f"\n```{{toctree}}\n:hidden:\n\n{decisions}\n```\n")
    shutil.copy(ROOT / "site" / "site.css", stage.folder / "_static")
    environment = {
        **os.environ,
        "TESSERA_SITE_VERSION": version(),
        "TESSERA_SITE_XML": str(doxygen(build)),
        "TESSERA_SITE_STATIC": str(stage.folder / "_static"),
        "PYTHONPATH": str(ROOT / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-c", str(ROOT / "site")]
    subprocess.run([*command, str(stage.folder), str(build / "html")], env=environment, check=True)
    dead = list(dead_links(build / "html"))
    if dead:
        sys.exit("dead links:\n" + "\n".join(dead))
    print(f"{build / 'html' / 'index.html'}: {pictures} cases in the gallery; no link is dead")


if __name__ == "__main__":
    main()
