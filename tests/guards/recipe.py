"""Render the recipe of conda-forge as rattler-build reads it, on each platform: ``python tests/guards/recipe.py``.

An unknown key, a wrong type or a wrong condition is an error. Prints the requirements of each package.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import rattler_build

ROOT = Path(__file__).resolve().parents[2]
METIS = {"linux-64": ["__unix", "pymetis >=2025.2"], "osx-arm64": ["__unix", "pymetis >=2025.2"], "win-64": ["__win"]}
"""By platform, what only it requires."""


def requirements_on(platform: str) -> dict[str, Any]:
    """The requirements of the one package that the recipe makes there."""
    recipe = rattler_build.Stage0Recipe.from_file(ROOT / "recipe" / "recipe.yaml")
    config = rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=platform))
    (variant,) = recipe.render(render_config=config)
    found: dict[str, Any] = variant.recipe.to_dict()["requirements"]
    return found


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    everywhere = [re.sub(r">=", " >=", text) for text in project["dependencies"] if ";" not in text]
    wanted = [f"python >={least}", *(text.replace("matplotlib ", "matplotlib-base ") for text in everywhere)]
    for platform, own in METIS.items():
        run = [str(text) for text in requirements_on(platform)["run"]]
        print(platform, *run, sep="\n  ")
        if sorted(run) != sorted([*wanted, *own]):
            sys.exit(f"On {platform} the recipe must require what pyproject.toml does. It should be {wanted + own}.")


if __name__ == "__main__":
    main()
