#!/usr/bin/env python3
"""Plants violations in a small tree, one at a time, and requires that the checkers name each, and nothing else."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_includes  # noqa: E402
import check_symbols  # noqa: E402
import check_tree  # noqa: E402

GOOD = {
    "include/tessera/mesh.h": "/** Meshes. */\n#ifndef TESSERA_MESH_H\n#define TESSERA_MESH_H\n#include <stddef.h>\n"
                              "#include \"status.h\"\n/** Makes one. */\nint tes_mesh_create(void);\n"
                              "int tes_mesh_b(void);\n#endif\n",
    "include/tessera/status.h": "#ifndef TESSERA_STATUS_H\n#define TESSERA_STATUS_H\n#endif\n",
    "src/base/base.h": "#ifndef TESI_BASE_H\n#define TESI_BASE_H\n#endif\n",
    "src/mesh/box.h": "#ifndef TESI_BOX_H\n#define TESI_BOX_H\n#include \"tessera/mesh.h\"\n#endif\n",
    "src/mesh/box.c": "#include \"box.h\"\n#include <stdio.h>\n#include \"base/base.h\"\n",
    "src/mesh/forest/box.h": "#ifndef TESI_FOREST_BOX_H\n#define TESI_FOREST_BOX_H\n#endif\n",
    "src/kernels/patch.cu": "#include \"device.h\"\n",
    "src/kernels/device.h": "#ifndef TESK_DEVICE_H\n#define TESK_DEVICE_H\n#endif\n",
    "src/device/emulator.c": "#include \"kernels/device.h\"\n",
    "src/operator/mapped.c": "const TesiOperatorKind tesi_operator_mapped = {\n"
                              "    .name = \"mapped\", .init = init};\n",
    "tests/t4_mapped.c": "/* kind mapped */\n",
    "cli/main.c": "#include <stdio.h>\n#include \"command.h\"\n#include \"tessera/mesh.h\"\n",
    "cli/command.h": "",
    "docs/page.md": "[here](page.md) and [there](https://example.org/x)\n",
    "site/make.py": 'SECTIONS = [("All", ["a", "page"])]\n',
}


class Checkers(unittest.TestCase):
    def found(self, name=None, text=None):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, content in (GOOD | ({name: text} if name else {})).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content, encoding="utf-8")
            return list(check_includes.violations(root)) + list(check_tree.violations(root))

    def assert_finds(self, name, text, words):
        found = self.found(name, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertIn(name, found[0])

    def test_a_right_tree_passes(self):
        self.assertEqual(self.found(), [])

    def test_include_of_a_later_folder(self):
        self.assert_finds("src/base/a.c", '#include "mesh/box.h"\n', "comes later")
        self.assert_finds("src/base/a.c", '#  include "io/nowhere.h"\n', "comes later")
        self.assert_finds("src/base/a.c", '#include "../mesh/box.h"\n', "comes later")

    def test_gpu_test_that_nobody_runs(self):
        self.assert_finds("tests/t4_a.c", "int main(void) { return test_device(0); }\n", "a test of GPUs")

    def test_page_outside_the_site(self):
        self.assert_finds("docs/other.md", "A page.\n", "not among the sections of site/make.py")

    def test_what_programs_wrote(self):
        self.assert_finds("run.log", "done\n", "at the root")
        self.assert_finds("case.csv", "x,y\n", "at the root")

    def test_unknown_folder(self):
        self.assert_finds("src/extra/a.c", "\n", "not in the include order")

    def test_kernels_stand_alone(self):
        self.assert_finds("src/kernels/a.cu", '#include "base/base.h"\n', "only kernels")
        self.assert_finds("src/kernels/a.cu", '#include "tessera/mesh.h"\n', "only kernels")

    def test_public_header_includes_private(self):
        self.assert_finds("include/tessera/a.h",
                          '#ifndef TESSERA_A_H\n#define TESSERA_A_H\n#include "base/base.h"\n#endif\n',
                          "private")

    def test_the_program_uses_the_public_headers(self):
        self.assert_finds("cli/main.c", '#include "base/base.h"\n', "not of include/tessera")
        self.assert_finds("examples/a.c", '#include "tessera/nowhere.h"\n', "not of include/tessera")

    def test_guards(self):
        self.assert_finds("src/mesh/a.h", "#ifndef TESI_B_H\n#define TESI_B_H\n#endif\n", "not TESI_A_H")
        self.assert_finds("src/mesh/a.h", "#pragma once\n", "not TESI_A_H")
        self.assert_finds("src/space/box.h", "#ifndef TESI_BOX_H\n#define TESI_BOX_H\n#endif\n", "guard of")

    def test_bodies_have_no_guard(self):
        self.assertEqual(self.found("src/mesh/a_body.h", "int a;\n"), [])
        self.assertEqual(self.found("src/mesh/a.h", "/* Sums; included with REAL. */\nint a;\n"), [])

    def test_unfinished_work(self):
        for word in ("TO" "DO", "FIX" "ME", "XX" "X", "not yet imple" "mented", "#if" " 0"):
            self.assert_finds("src/base/a.c", f"{'' if word[0] == '#' else '// '}{word}\n", "unfinished")

    def test_path_of_a_machine(self):
        self.assert_finds("docs/a.md", "see /home" "/me/x\n", "path of one machine")

    def test_length(self):
        self.assert_finds("src/base/a.c", "\n" * 601, "601 lines")
        self.assertEqual(self.found("src/base/a.c", "\n" * 600), [])

    def test_white_space(self):
        self.assert_finds("src/base/a.c", "int a; \n", "white space")
        self.assert_finds("src/base/a.c", "\tint a;\n", "white space")
        self.assert_finds("src/base/a.c", "int a;", "newline")

    def test_public_functions_are_documented(self):
        head, tail = "#ifndef TESSERA_A_H\n#define TESSERA_A_H\n", "#endif\n"
        self.assert_finds("include/tessera/a.h", head + "\nint tes_a(void);\n" + tail, "no comment")
        self.assert_finds("include/tessera/a.h", head + "/** It. */\n\nconst char *tes_a(int);\n" + tail, "no comment")
        self.assert_finds("include/tessera/a.h", head + "/** It. */\nint other(void);\n" + tail, "begin with tes_")

    def test_kinds_of_meshes_in_public_names(self):
        header = GOOD["include/tessera/mesh.h"]
        self.assert_finds("include/tessera/mesh.h", header.replace("tes_mesh_b", "tes_forest_b"), "says forest")
        self.assert_finds("include/tessera/forest.h", "#ifndef TESSERA_FOREST_H\n#define TESSERA_FOREST_H\n#endif\n",
                          "one kind of mesh")

    def test_nouns(self):
        header = GOOD["include/tessera/mesh.h"]
        many = "".join(f"/** It. */\nint tes_f{i}(void);\n" for i in range(182))
        self.assert_finds("include/tessera/mesh.h", header.replace("#endif", "/** It. */\nint tes_box(void);\n#endif"),
                          "says box")
        self.assert_finds("include/tessera/mesh.h",
                          header.replace("#endif", "/** It. */\nint tes_mesh_create_from(void);\n#endif"),
                          "one create function")
        found = self.found("include/tessera/mesh.h", header.replace("#endif", many + "#endif"))
        self.assertEqual(found, ["include/tessera: 184 public functions, at most 183 are wanted"])
        self.assert_finds("src/operator/a.c", "TesiForest f;\n", "says forest")
        self.assertEqual(self.found("src/mesh/a.c", "TesiForest f;\n"), [])

    def test_kinds_are_tested(self):
        found = self.found("tests/t4_mapped.c", "int mapped_twice;\n")
        self.assertEqual(found, ["src/operator/mapped.c: no test and no case names the kind mapped"])
        self.assert_finds("tests/t6_kinds.c", 'static const char *operators[] = {"separable"};\n',
                          "leaves the operator mapped out")

    def test_rules_of_the_architecture(self):
        header = GOOD["include/tessera/mesh.h"]
        self.assert_finds("include/tessera/mesh.h", header.replace("tes_mesh_b(void)", "tes_mesh_b(const double *x)"),
                          "vectors are TesVector")
        one = header.replace("tes_mesh_b(void)", "tes_mesh_b(double *norm)")
        self.assertEqual(self.found("include/tessera/mesh.h", one), [])
        self.assert_finds("src/operator/a.c", "  TES_TRY(tes_mesh_find_boundary(mesh, name, &i));\n", "become numbers")
        self.assert_finds("src/operator/a.c", "  device->dot(ctx, n, x, y, &s);\n", "device/vector.c")
        self.assert_finds("src/operator/a.c", "  n = desc->degree ? desc->degree : 4;\n", "default degree")
        self.assert_finds("src/operator/a.c", "  MPI_Init(0, 0);\n", "MPI is called")
        self.assert_finds("src/operator/a.c", '  getenv("PETSC_OPTIONS");\n', "environment variable")
        self.assertEqual(self.found("src/operator/a.c", "/* MPI_Init, device->dot(x) */\n"), [])
        many = "typedef struct A {\n  void (*f)(int a, int b);\n  int a[3], " + ", ".join("abcdefgh") + ";\n"
        self.assertEqual(self.found("src/problem/a.c", many + "  struct { int x, y; } z;\n} A;\n"), [])
        many += "".join(f"  int m{i};\n" for i in range(26))
        self.assert_finds("src/problem/a.c", many + "} A;\n", "struct A has 36 members")
        self.assertEqual(self.found("src/operator/a.c", many + "} A;\n"), [])
        found = self.found("src/operator/a.h", "#ifndef TESI_A_H\n#define TESI_A_H\nextern TesiWall w;\n#endif\n")
        self.assertEqual(len(found), 1, found)
        self.assertIn("second kinds of conditions: 1", found[0])

    def test_loops_over_threads(self):
        self.assert_finds("src/base/a.c", "#pragma omp parallel for\n", "a loop of OpenMP")
        self.assert_finds("src/base/a.c", '_Pragma("omp barrier")\n', "a loop of OpenMP")
        self.assertEqual(self.found("src/base/a.c", "#pragma omp simd\n"), [])

    def test_names_of_files(self):
        self.assert_finds("src/device/box.c", "", "stands twice")
        self.assert_finds("src/mesh/op_box.c", "", "without op_")

    def test_links(self):
        self.assert_finds("docs/a.md", "[x](nowhere.md)\n", "leads nowhere")
        self.assert_finds("src/base/a.c", "/* docs/nowhere.md */\n", "there is no docs/nowhere.md")

    def test_symbols(self):
        self.assertEqual(list(check_symbols.violations({"tes_a"}, {"tes_a", "_edata"})), [])
        for declared, exported, words in (({"tes_a"}, set(), "not there"), (set(), {"tes_a"}, "no header"),
                                          (set(), {"tesi_a"}, "no header")):
            found = list(check_symbols.violations(declared, exported))
            self.assertEqual(len(found), 1)
            self.assertIn(words, found[0])
        with tempfile.TemporaryDirectory() as folder:
            inline = "static inline int tes_inline(int a) {\n  return tes_other(a);\n}\n"
            text = "/* tes_not(this) */\n" + inline + "int *tes_this(int a);\n"
            (Path(folder) / "a.h").write_text(text, encoding="utf-8")
            self.assertEqual(check_symbols.declared(folder), {"tes_this"})


if __name__ == "__main__":
    unittest.main(verbosity=0)
