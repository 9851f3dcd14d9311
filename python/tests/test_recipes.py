"""The recipe for conda-forge: rattler-build, which builds by it, reads it and finds all that it does not know. The
recipe for Spack: its directives, beside the options that the build has."""

import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).parents[2]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
SPACK = ROOT / "packaging" / "spack" / "packages" / "tessera" / "package.py"
COMPILERS = {"c_compiler": ["gcc"], "c_compiler_version": ["14"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]}


def render(text, platform):
    """The recipe as a dict."""
    rattler_build = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    config = rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=platform))
    variants = rattler_build.Stage0Recipe.from_yaml(text).render(rattler_build.VariantConfig(COMPILERS), config)
    assert len(variants) == 1
    return variants[0].recipe.to_dict()


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64"])
def test_the_recipe_is_right(platform):
    """What conda-forge asks of one: license, tests, a C library beside the compiler, run_exports; our version."""
    recipe = render(RECIPE.read_text(), platform)
    version = (ROOT / "pyproject.toml").read_text().split('version = "')[1].split('"')[0]
    assert recipe["package"] == {"name": "tessera", "version": version}
    assert recipe["about"]["license"] == "Apache-2.0" and recipe["about"]["license_file"] and recipe["about"]["summary"]
    assert (ROOT / "LICENSE").exists()
    needed = " ".join(recipe["requirements"]["build"])
    assert f"gcc_{platform} 14" in needed and f"sysroot_{platform} 2.28" in needed
    assert recipe["requirements"]["run_exports"] and len(recipe["tests"]) == 2
    for case in recipe["tests"][0]["files"]["source"]:
        assert (ROOT / case).exists()


@pytest.mark.parametrize(
    "wrong",
    [("  number: 0", "  numbr: 0"), ("license: Apache-2.0", "license: Apache-Two"), ("cmake >=3.20", "cmake =>3.20")],
)
def test_mistakes_are_found(wrong):
    """The reader is strict."""
    text = RECIPE.read_text()
    assert wrong[0] in text
    with pytest.raises(Exception, match=r"(?s)numbr|Apache-Two|=>3.20"):
        render(text.replace(*wrong), "linux-64")


def test_spack_knows_our_options(monkeypatch):
    """Its directives by a stand-in for spack.package: conditions name variants that there are, defines our options."""
    calls = []

    def directive(name):
        return lambda *arguments, **options: calls.append((name, arguments, options))

    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts"):
        setattr(package, name, directive(name))
    package.run_after = package.on_package_attributes = lambda *_, **__: lambda function: function
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = type(
        "CMakePackage",
        (),
        {
            "define": lambda self, name, value: f"-D{name}={value}",
            "define_from_variant": lambda self, name, variant: f"-D{name}={variant}",
        },
    )
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", package)
    monkeypatch.setitem(sys.modules, "spack_repo.builtin.build_systems.cmake", cmake)
    names = {"__file__": str(SPACK)}
    exec(compile(SPACK.read_text(), str(SPACK), "exec"), names)  # pylint: disable=exec-used
    variants = {arguments[0] for name, arguments, _ in calls if name == "variant"}
    conditions = [options["when"] for _, _, options in calls if "when" in options]
    conditions += [arguments[0] for name, arguments, _ in calls if name == "conflicts"]
    assert {word for text in conditions for word in re.findall(r"[+~]([a-z0-9]+)", text)} <= variants
    given = re.findall(r"-D(TESSERA_\w+)=", " ".join(names["Tessera"]().cmake_args()) + RECIPE.read_text())
    build = "".join(path.read_text() for path in (ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")))
    assert len(given) > 8 and all(re.search(rf"\b{name}\b", build) for name in given), given
