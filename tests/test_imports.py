"""What `import adknb` costs, and what its names are."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import adknb

HEAVY = ("jupyterlab", "IPython", "ipywidgets", "anywidget", "traitlets", "pandas", "numpy", "graphviz", "rich", "yaml")

NAMES = {
    *("step", "attach", "versus", "watch", "open", "doctor", "replay", "scenario", "at", "changed", "event", "when"),
    *(
        "Stepper",
        "Runner",
        "Plugin",
        "Event",
        "Return",
        "Raise",
        "RunConfig",
        "FunctionTool",
        "ScriptedModel",
        "Gemini",
    ),
    *("LlmAgent", "SequentialAgent", "LoopAgent", "ParallelAgent"),
    *("step_live", "LiveConfig", "LiveRequest", "LiveSession", "LiveStepper", "YieldedError"),
}


def loaded_by(code: str, *blocked: str) -> set[str]:
    """The modules that a fresh Python has loaded after `code`; the blocked ones cannot be imported in it."""
    whole = f"""
import json, sys
for name in {blocked!r}:
    sys.modules[name] = None
{code}
print(json.dumps([name for name, module in sys.modules.items() if module]))
"""
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_adknb_loads_nothing_but_itself() -> None:
    loaded = loaded_by("import adknb")
    assert {name for name in loaded if name.startswith("adknb")} == {"adknb"}
    assert not loaded & {"google.genai", "pydantic", *HEAVY}


def test_the_engine_loads_google_genai_and_nothing_of_jupyter() -> None:
    """`google.genai`'s own `__init__` imports its client, so nobody who imports the types can avoid that."""
    with_types = loaded_by("import google.genai.types")
    with_engine = loaded_by("from adknb import Runner, LlmAgent, SequentialAgent, FunctionTool, Event")
    assert "google.genai.types" in with_engine
    extra = {name.split(".")[0] for name in with_engine - with_types}
    assert extra <= {"adknb", *sys.stdlib_module_names}
    assert not with_engine & set(HEAVY)


def test_without_the_extras_a_run_can_be_stepped_and_a_file_opened() -> None:
    loaded_by(
        "import adknb.stepper, adknb.files, adknb.scenarios, adknb.cli", *(name for name in HEAVY if name != "yaml")
    )


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_public_name_can_be_fetched(name: str) -> None:
    assert getattr(adknb, name).__module__.startswith("adknb.")


def test_a_star_import_leaves_open_alone() -> None:
    assert {*adknb.__all__, "open"} == NAMES
    assert {*dir(adknb)} >= NAMES


def test_a_wrong_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'adknb' has no attribute 'stepp'"):
        adknb.stepp  # noqa: B018
