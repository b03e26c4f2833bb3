"""Instruction cases: a template and a state, filled directly; an error names the key."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import LlmAgent, Runner, ScriptedModel
from adknb.engine.context import InMemoryArtifactService, InvocationContext
from adknb.engine.errors import ArtifactError, StateKeyMissing
from adknb.engine.platform import Platform
from adknb.engine.processors.instructions import fill
from adknb.engine.session import InMemorySessionService, Session
from tests.cases import given

RULES = {
    "I01": "a code sample asks for a key",
    "I02": "all braces around a key go",
    "I04": "an optional key may be missing",
    "I05": "values print as in Go",
}


def filled(template: str, state: dict[str, Any], artifacts: bool = True) -> str:
    """The template filled in for an agent with this state."""
    ctx = InvocationContext(
        agent=LlmAgent("a", model=ScriptedModel([])),
        session=Session("s", "app", "user", state=state),
        session_service=InMemorySessionService(),
        platform=Platform(),
        artifact_service=InMemoryArtifactService() if artifacts else None,
    )
    return fill(ctx, template)


def of_case(case: str, artifacts: bool = True) -> str:
    """The case's own template with its own state."""
    told = given.CASES[case]["input"]
    return filled(told["instruction"], told["state"], artifacts)


def test_every_instruction_case_is_here() -> None:
    assert set(RULES) == {case for case, told in given.CASES.items() if "instruction" in told["input"]}


@pytest.mark.parametrize(
    "case, key", [("I01", "'page'"), ("I02", "'n'")], ids=[f"{RULES[c]} [{c}]" for c in ("I01", "I02")]
)
def test_a_key_that_is_missing_is_named(case: str, key: str) -> None:
    with pytest.raises(StateKeyMissing, match=key):
        of_case(case)


def test_an_optional_key_that_is_missing_is_empty_and_what_is_no_key_stays() -> None:
    """I04, with an artifact service that does not have the file."""
    assert of_case("I04") == "A= B= C=小明 D= E={other:x?} F= G="


def test_an_optional_artifact_without_a_service_is_an_error() -> None:
    """I04: `?` is for a file that is not there, not for a service that is not."""
    with pytest.raises(ArtifactError, match=r"'notes\.txt'.*no artifact service"):
        of_case("I04", artifacts=False)


def test_a_native_number_prints_its_digits_and_one_from_json_as_a_float() -> None:
    """I05: in memory the id is a whole number; read back as JSON it is a float. Both from one template."""
    assert of_case("I05") == "id=12345678 big=1e+21 ok=true m=map[a:x b:1] l=[1 2]"
    told = given.CASES["I05"]["input"]
    as_floats = {
        key: float(value) if isinstance(value, int) and value is not True else value
        for key, value in told["state"].items()
    }
    assert filled(told["instruction"], as_floats).startswith("id=1.2345678e+07 big=1e+21 ok=true ")


VARIANTS = [
    ("I01", "empty braces", "{}", {}, "{}"),
    ("I01", "an object literal", "{ a: 1 }", {}, "{ a: 1 }"),
    ("I01", "a destructured pair", "({ page, context }) =>", {}, "({ page, context }) =>"),
    ("I02", "two braces", "cost in {{city}}", {"city": "Rome"}, "cost in Rome"),
    ("I02", "uneven braces", "{{city}", {"city": "Rome"}, "Rome"),
    ("I02", "a dollar", "${city}", {"city": "Rome"}, "$Rome"),
    ("I04", "null without a mark", "[{k}]", {"k": None}, "[]"),
    ("I04", "a blank before the mark", "{k ?}", {"k": 1}, "{k ?}"),
    ("I05", "a nested null", "{l}", {"l": [None, True]}, "[<nil> true]"),
]


@pytest.mark.parametrize("template, state, text", [r[2:] for r in VARIANTS], ids=[f"{r[1]} [{r[0]}]" for r in VARIANTS])
def test_a_variant_of_a_case_is_filled_as_in_go(template: str, state: dict[str, Any], text: str) -> None:
    assert filled(template, state) == text


def test_a_providers_text_is_not_filled_in() -> None:
    """I01: the way out for text with braces."""
    sample = given.CASES["I01"]["input"]["instruction"]
    seen = []

    def model(request: Any) -> str:
        seen.append(request.config.system_instruction.parts[0].text)
        return "ok"

    list(Runner(LlmAgent("a", model=model, instruction=lambda ctx: sample)).run("x"))
    assert seen[0].startswith(sample)
