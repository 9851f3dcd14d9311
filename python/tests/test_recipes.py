"""The recipe for conda-forge: rattler-build, which builds by it, reads it and finds all that it does not know."""

import pathlib

import pytest

RECIPE = pathlib.Path(__file__).parents[2] / "packaging" / "conda" / "recipe.yaml"
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
    version = (RECIPE.parents[2] / "pyproject.toml").read_text().split('version = "')[1].split('"')[0]
    assert recipe["package"] == {"name": "tessera", "version": version}
    assert recipe["about"]["license"] == "Apache-2.0" and recipe["about"]["license_file"] and recipe["about"]["summary"]
    assert (RECIPE.parents[2] / "LICENSE").exists()
    needed = " ".join(recipe["requirements"]["build"])
    assert f"gcc_{platform} 14" in needed and f"sysroot_{platform} 2.28" in needed
    assert recipe["requirements"]["run_exports"] and len(recipe["tests"]) == 2
    for case in recipe["tests"][0]["files"]["source"]:
        assert (RECIPE.parents[2] / case).exists()


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
