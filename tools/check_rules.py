"""The rules of docs/architecture.md ("What holds everywhere") that can be read from the text. Part of check_tree.py.

- At most MAX_PUBLIC public functions; none, no type and no header says box or forest: kinds of a mesh are values.
- A public type has one create function; a function has several, because its kinds have nothing in common, and a
  space has one of products.
- Inside, functions and types that say forest stand in FOREST alone.
- Every kind, equation and the like (`.name = "..."`) is named by a test, or a case file; operators in t6_kinds.
- Names of boundaries and materials become numbers in mesh/ and problem/ alone.
- Vectors of public functions are TesVector: arrays of double are in ARRAYS alone.
- Sums over entries of vectors go through device/vector.c, where those of several ranks are added.
- A default degree stands in space/ alone: in rows of element.c.
- The core knows no equation, no element and no scheme: outside of problem/equation/ and of the steps of flows nothing
  includes what stands in CORE_MAY_NOT, and the counts of FIGURES are at most what they were: a ceiling may only fall.
- A struct of src/problem has at most MAX_MEMBERS members.
- MPI is called in MPI alone. Environment variables are called TESSERA_... or stand in OTHERS_VARIABLES."""
import re

MAX_PUBLIC = 183
FOREST = ("mesh", "space", "geometry")
CREATE = {"tes_function_create": 5, "tes_space_create": 2}
# Coordinates, numbers of cells or boundaries, values at points, and how vectors are filled and read.
ARRAYS = {"tes_case_derive", "tes_estimate_dwr", "tes_estimate_residual", "tes_function_evaluate",
          "tes_functional_error", "tes_mark_cells", "tes_mesh_evaluate", "tes_mesh_locate",
          "tes_problem_note", "tes_problem_sample", "tes_space_coordinates", "tes_vector_get",
          "tes_vector_set"}
NUMBER = {"value", "l2", "h1", "dot", "norm", "maximum", "t"}  # one number, returned
MPI = {"src/parallel/mpi.c", "src/parallel/mpi.h"}
# Folders of the core, and what it does not include.
CORE = re.compile(r"^(?:cli/|src/(?:time|multigrid|krylov|functional|io)/|src/problem/(?:adapt/)?[^/]+$)")
CORE_MAY_NOT = re.compile(r'include "problem/(?:equation|flow)/')
# Name, what is counted, in which files, at most. Wanted in the end: 12, 20, 0, 90, 110.
FIGURES = [
    ("names of equations in the core", r"&tesi_(?:poisson|stokes|transport|elasticity|navier_stokes)(?!_of)|"
     r"\bTES_(?:POISSON|STOKES|TRANSPORT|ELASTICITY|NAVIER_STOKES)\b", r"^(?:src|cli)/(?!problem/equation/)", 1),
    ("names of elements", r"TES_ELEMENT_(?:Q|DG|RT|ISO)\b", r"^(?:src|cli)/(?!problem/equation/)", 4),
    ("equations and flows included by the core", CORE_MAY_NOT.pattern, CORE.pattern, 0),
    ("checks in problem/", r"TES_CHECK\(", r"^src/problem/", 86),
    ("errors of the case reader", r"tesi_case_error\(", r"^src/io/case/", 107),
    ("names of a second kind of axes", r"\b(?:TesiRtAxis|TesiRt|tesi_space_rt)\b", r"^(?:src|tests|bench)/", 0),
    ("words that rule 12 replaced", r"[sS]addle|tes[ik]_(?:mixed|broken|rings|parts)_|"
     r"Tes[ik](?:Mixed|Broken|Rings)\b|TesiParts\b|has_rings|is_broken|_twin\b",
     r"^(?:src|include|cli|tests|bench)/", 0),
    ("names of second kinds of conditions", r"\b(?:TesiFlowFace|TesiWall|TesiRtFace\w*|TesiUpwindEnd|TesiEnd|"
     r"TesiRtConvectionSide)\b", r"^(?:src|tests|bench)/", 0),
    ("hashes written out", r"0x100000001b3|0xbf58476d1ce4e5b9", r"^src/(?!base/|kernels/)", 1),
    ("libraries opened beside device/library.c", r"\bdlopen\(", r"^src/(?!device/library\.c)", 3),
    ("a problem's numbers of TesBoundary", r"TesBoundary \*?\w+(?:\[\d*\])?;", r"^src/(?!io/case/)\S+\.h$", 0),
]
# Members of a struct of src/problem: what belongs together is a struct of its own.
MAX_MEMBERS = 35
STRUCT = re.compile(r"\bstruct (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
INLINE = re.compile(r"\bstatic inline [^;{]*\{.*?^\}", re.S | re.M)
FUNCTION = re.compile(r"\b(tes_\w+)\s*\(([^;{]*)\)\s*;")
TYPE = re.compile(r"\b(Tes[A-Z]\w*)")
KIND_NAME = re.compile(r"const Tesi\w*(?:Kind|Equation|Stepper) \w+ = \{\s*(?:\.name = )?\"(\w+)\"")
OPERATOR_NAME = re.compile(r"const TesiOperatorKind \w+ = \{\s*\.name = \"(\w+)\"")
INSIDE = re.compile(r"\b(tesi_\w*forest\w*|Tesi\w*Forest\w*)\b")
FIND = re.compile(r"\btes_mesh_find_(?:boundary|material)\(")
SUM = re.compile(r"(?:device|\))->(?:dot|maximum)\(")
DEGREE = re.compile(r"degree \? \S*degree : \d|degree = 4;")
ENVIRONMENT = re.compile(r"getenv\(\"(\w+)\"")
OTHERS_VARIABLES = {"HOME", "XDG_CACHE_HOME", "CUDA_HOME", "OMPI_COMM_WORLD_SIZE", "OMP_WAIT_POLICY"}


def code(path):
    """The text without comments, lines kept."""
    return COMMENT.sub(lambda m: "\n" * m.group().count("\n"), path.read_text(encoding="utf-8"))


def public_functions(texts):
    """(header, name, parameters) of each."""
    for name, text in texts:
        for function, parameters in FUNCTION.findall(INLINE.sub("", text)):
            yield name, function, " ".join(parameters.split())


def check_public(texts):
    """Headers, as (name, text)."""
    functions = list(public_functions(texts))
    if len(functions) > MAX_PUBLIC:
        yield f"include/tessera: {len(functions)} public functions, at most {MAX_PUBLIC} are wanted"
    for name, text in texts:
        for word in sorted(set(TYPE.findall(text)) | set(re.findall(r"\btes_\w+", text))):
            if "box" in word.lower():
                yield f"{name}: {word} says box, a kind of mesh"
    creates = {}
    for name, function, parameters in functions:
        noun = re.match(r"tes_\w+_create", function)
        if noun:
            creates.setdefault(noun.group(), []).append(name)
        for parameter in parameters.split(","):
            array = re.search(r"\bdouble \*(\w+)", parameter)
            if array and function not in ARRAYS and array.group(1) not in NUMBER:
                yield f"{name}: {function} has an array {array.group(1)}: vectors are TesVector"
    for noun, names in creates.items():
        if len(names) > CREATE.get(noun, 1):
            yield f"{names[-1]}: {noun} stands {len(names)} times: one create function a noun"


def check_inside(name, text, forest):
    """A file of src/, comments left out; forest: names that are a mesh's own."""
    folder = name.parts[1]
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        for word in set(INSIDE.findall(line)) - forest:
            yield f"{where}: {word} says forest"
        if folder not in ("mesh", "problem") and FIND.search(line):
            yield f"{where}: names become numbers in problem/"
        if folder != "device" and SUM.search(line):
            yield f"{where}: sums over entries go through device/vector.c"
        if folder not in FOREST and DEGREE.search(line):
            yield f"{where}: the default degree stands in space/element.c"
        if re.search(r"\bMPI_(?!Comm\b)\w", line) and name.as_posix() not in MPI:
            yield f"{where}: MPI is called in {', '.join(sorted(MPI))}"
        for variable in ENVIRONMENT.findall(line):
            if not variable.startswith("TESSERA_") and variable not in OTHERS_VARIABLES:
                yield f"{where}: the environment variable {variable}"


def check_kinds(texts, used, promises):
    """Names of kinds in src/, as (name, text), against texts of tests and cases; promises: what all kinds promise."""
    for name, text in texts:
        for kind in KIND_NAME.findall(text):
            if not re.search(rf"\b{kind}\b", used):
                yield f"{name}: no test and no case names the kind {kind}"
        for kind in OPERATOR_NAME.findall(text):
            if promises and f'"{kind}"' not in promises:
                yield f"{name}: tests/t6_kinds.c leaves the operator {kind} out"


def figures(root, names):
    """(name, count, ceiling) of each row of FIGURES."""
    for title, pattern, where, most in FIGURES:
        counted = (len(re.findall(pattern, code(root / name))) for name in names
                   if name.suffix in (".c", ".h") and re.match(where, name.as_posix()))
        yield title, sum(counted), most


def members(body):
    """How many a struct has; those of a struct inside are one."""
    body = re.sub(r"\{[^{}]*\}|\[[^\]]*\]", "", body)
    while "(" in body:
        shorter = re.sub(r"\([^()]*\)", "", body)
        if shorter == body:
            break
        body = shorter
    return sum(len(line.split(",")) for line in body.split(";") if line.strip())


def check_members(source):
    for name, text in source:
        for struct, body in STRUCT.findall(text) if name.as_posix().startswith("src/problem/") else ():
            if members(body) > MAX_MEMBERS:
                yield f"{name}: struct {struct} has {members(body)} members, at most {MAX_MEMBERS} are wanted"


def check_figures(root, names):
    for title, count, most in figures(root, names):
        if count > most:
            yield f"{title}: {count}, at most {most} there were: ask a row of problem/support.h, or a table entry"


def violations(root, names):
    """All violations in these files, names relative to root."""
    def texts(folder, suffixes):
        return [(name, code(root / name)) for name in names if name.parts[0] == folder and name.suffix in suffixes]
    source = texts("src", {".c", ".h"})
    yield from check_public(texts("include", {".h"}))
    forest = {word for name, text in source if name.parts[1] in FOREST for word in INSIDE.findall(text)}
    for name, text in source:
        yield from check_inside(name, text, forest)
    used = "\n".join((root / name).read_text(encoding="utf-8", errors="replace") for name in names
                     if name.parts[0] in ("tests", "cases") and name.suffix in (".c", ".h", ".yaml"))
    promises = root / "tests" / "t6_kinds.c"
    yield from check_figures(root, names)
    yield from check_members(source)
    yield from check_kinds(source, used, promises.read_text(encoding="utf-8") if promises.exists() else "")


if __name__ == "__main__":
    import subprocess
    from pathlib import Path
    HERE = Path(__file__).resolve().parent.parent
    FILES = [Path(line) for line in subprocess.check_output(["git", "ls-files", "src", "cli"], cwd=HERE,
                                                            text=True).split()]
    for TITLE, COUNT, MOST in figures(HERE, FILES):
        print(f"{COUNT:5} of at most {MOST:5}  {TITLE}")
