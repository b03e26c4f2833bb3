"""An attached definition: the rebuilt request has instruction, tools and settings too."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import adknb
from adknb.engine.errors import BadData
from adknb.files.definition import definition_of, tree_of
from adknb.files.reading import session_of
from adknb.files.recording import Recording
from adknb.lens.table import part_texts

SAMPLES = Path(__file__).parent / "samples"
Json = dict[str, Any]

ROOT = {
    "agent_class": "LlmAgent",
    "name": "desk",
    "model": "gemini-2.5-flash",
    "description": "Helps at the shop",
    "instruction": "Town: {user:town?}. Last order: {last_order?}.",
    "tools": [{"name": "google_search"}, {"name": "my_tools.track"}],
    "sub_agents": [{"config_path": "more/guide.yaml"}],
}
GUIDE = {
    "name": "guide",
    "instruction": "You know plants.",
    "output_key": "advice",
    "generate_content_config": {"temperature": 0.2},
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "more").mkdir()
    (tmp_path / "root_agent.yaml").write_text(yaml.safe_dump(ROOT))
    (tmp_path / "more" / "guide.yaml").write_text(yaml.safe_dump(GUIDE))
    return tmp_path / "root_agent.yaml"


def instruction(rebuilt: Any) -> str:
    return "\n".join(part_texts(rebuilt.request.system_instruction))


@pytest.mark.parametrize(
    "event, begins",
    [
        (1, "Town: . Last order: .\n\n"),  # as of then: nothing was written yet
        (3, "Town: Lyon. Last order: O-88.\n\n"),
    ],
)
def test_the_instruction_is_filled_with_the_state_of_then(config: Path, event: int, begins: str) -> None:
    tape = adknb.open(SAMPLES / "v1.db", "s-parcel", agent=config)
    rebuilt = tape.request_before(event)
    assert instruction(rebuilt).startswith(begins)
    assert 'Your internal name is "desk"' in instruction(rebuilt)
    assert rebuilt.request is not None
    assert rebuilt.request.model == "gemini-2.5-flash"
    assert len(rebuilt.contents) == len(adknb.open(SAMPLES / "v1.db", "s-parcel").request_before(event).contents)
    assert [f.kind for f in rebuilt.fates] == ["kept"] * event


def test_tools_whose_declarations_are_known_are_declared_the_others_are_named(config: Path) -> None:
    rebuilt = adknb.open(SAMPLES / "v1.db", "s-parcel", agent=config.parent).request_before(3)
    assert rebuilt.request is not None
    tools: Any = rebuilt.request.config.tools
    assert [[d.name for d in t.function_declarations or []] or "search" for t in tools] == [
        ["transfer_to_agent"],
        "search",
    ]
    said = " ".join(rebuilt.unknown)
    assert "The declarations of tools of desk: the definition has their names only (track)." in said
    assert "user:town" in " ".join(adknb.open(SAMPLES / "v1.db", "s-parcel", agent=config).request_before(1).unknown)
    assert "no agent definition" not in said


def test_each_agent_has_its_own_settings(config: Path) -> None:
    tape = adknb.open(SAMPLES / "v1.db", "s-parcel").with_agent(config)
    rebuilt = tape.request_before(7)
    assert rebuilt.request is not None
    assert rebuilt.request.config.temperature == 0.2
    assert instruction(rebuilt).startswith("You know plants.")
    assert tape.agents.parents == {"desk": None, "guide": "desk"}
    assert "THE SYSTEM INSTRUCTION" in rebuilt.text()
    assert tape.agent_trees[0]["sub_agents"][0]["output_key"] == "advice"


def test_a_python_agent_of_ours_gives_its_declarations_and_processors() -> None:
    def track(order: str) -> str:
        """Where a parcel is."""
        return order

    agent = adknb.LlmAgent(
        "desk", adknb.ScriptedModel([]), instruction=lambda ctx: f"cart {ctx.state['cart']}", tools=[track]
    )
    rebuilt = adknb.open(SAMPLES / "v1.db", "s-parcel", agent=agent).request_before(3)
    assert instruction(rebuilt).startswith("cart ['spade']")
    assert rebuilt.request is not None
    assert list(rebuilt.request.tools) == ["track"]


def events(*texts: str) -> Recording:
    told = [
        {"author": a, "content": {"role": "user" if a == "user" else "model", "parts": [{"text": t}]}}
        for a, t in (x.split(": ") for x in texts)
    ]
    return Recording(session_of({"events": told}, "f.json"))


@pytest.mark.parametrize("include, contents", [("default", 3), ("none", 1)])
def test_include_contents_of_the_definition_counts(include: str, contents: int) -> None:
    tape = events("user: 1", "desk: 2", "user: 3", "desk: 4").with_agent(
        {"type": "llm", "name": "desk", "include_contents": include}
    )
    assert len(tape.request_before(3).contents) == contents


def test_a_key_that_is_missing_is_told_not_raised() -> None:
    tape = events("user: 1", "desk: 2").with_agent({"type": "llm", "name": "desk", "instruction": "{gone}"})
    rebuilt = tape.request_before(1)
    assert not rebuilt.problem
    assert len(rebuilt.contents) == 1
    assert "gone" in " ".join(rebuilt.unknown)


def test_an_agent_that_the_definition_does_not_have_keeps_its_contents() -> None:
    rebuilt = events("user: 1", "desk: 2").with_agent({"type": "llm", "name": "other"}).request_before(1)
    assert rebuilt.request is None
    assert len(rebuilt.contents) == 1


def test_where_nobody_has_answered_the_root_is_asked() -> None:
    tree = {"type": "sequential", "name": "line", "sub_agents": [{"type": "llm", "name": "first"}]}
    assert events("user: 1").with_agent(tree).request_before(0).agent == "first"


def test_a_file_may_bring_its_definitions_along() -> None:
    document = {
        "events": [{"author": "user", "content": {"parts": [{"text": "hi"}], "role": "user"}}],
        "agents": [{"type": "llm", "name": "desk", "tools": ["look"]}],
    }
    tape = Recording(session_of(document, "f"))
    assert tape.request_before(0).agent == "desk"
    assert "look" in " ".join(tape.request_before(0).unknown)
    other = Recording(session_of({**document, "agents": [{"type": "llm", "name": 5}]}, "f"))
    assert other.definition is None
    assert "not read" in other.notes[0]


@pytest.mark.parametrize(
    "files, message",
    [
        ({"root_agent.yaml": "name: 5"}, "root_agent.yaml: name: expected a text, found a number 5"),
        ({"root_agent.yaml": "- a"}, "root_agent.yaml: expected an object, found a list"),
        ({"root_agent.yaml": "name: a\ntools: x"}, "root_agent.yaml: tools: expected a list, found a text 'x'"),
        ({"root_agent.yaml": "name: a\ntools: [{}]"}, "root_agent.yaml: tools[0].name: expected a text, found null"),
        ({"root_agent.yaml": "name: a\nmodel: {a: 1}"}, "root_agent.yaml: model: expected a text, found dict"),
        ({"root_agent.yaml": "name: a\nsub_agents: [{config_path: b.yaml}]"}, "root_agent.yaml: sub_agents[0]: "),
        (
            {"root_agent.yaml": "name: a\nsub_agents: [{config_path: root_agent.yaml}]"},
            "root_agent.yaml: sub_agents[0]: root_agent.yaml: is a sub-agent of itself",
        ),
        (
            {"root_agent.yaml": "name: a\nsub_agents: [{config_path: b.yaml}]", "b.yaml": "name: a"},
            "root_agent.yaml: two agents are called 'a'; names must be unique",
        ),
        (
            {"root_agent.yaml": "name: a\ngenerate_content_config: {heat: 1}"},
            "root_agent.yaml: agent.generate_content_config.heat: unknown",
        ),
        ({"root_agent.yaml": "name: a\ninclude_contents: some"}, "root_agent.yaml: agent.include_contents: expected"),
        ({"root_agent.yaml": "name: user"}, "root_agent.yaml: no agent can be called 'user'"),
    ],
)
def test_a_definition_that_cannot_be_gets_one_error(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(BadData) as caught:
        definition_of(tmp_path / "root_agent.yaml")
    assert str(caught.value).startswith(message)


def test_a_definition_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="there is no such file"):
        definition_of(tmp_path)


@pytest.mark.parametrize("given", [5, [], ["desk"], object()])
def test_what_is_no_definition_is_refused(given: Any) -> None:
    with pytest.raises(BadData, match="expected an agent of adknb, a path"):
        definition_of(given)


@pytest.mark.parametrize(
    "config, kind, untold",
    [
        ({"name": "a", "agent_class": "google.adk.agents.LoopAgent", "max_iterations": 3}, "loop", []),
        ({"name": "a", "agent_class": "my.Agent", "instruction": "x"}, "llm", ["its class my.Agent is Python code"]),
        ({"name": "a", "output_schema": {"name": "my.Schema"}}, "llm", ["The output schema of a", "my.Schema"]),
        ({"name": "a", "before_model_callbacks": [{"name": "x.y"}]}, "llm", ["What the callbacks of a change"]),
        ({"name": "a", "sub_agents": [{"code": "my.agent"}]}, "llm", ["The sub-agent my.agent"]),
        ({"name": "a", "mood": "good", "empty": None}, "llm", ["Fields of a's definition that are not read: mood"]),
    ],
)
def test_what_is_code_is_never_imported_and_said_to_be_open(
    tmp_path: Path, config: Json, kind: str, untold: list[str]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump(config))
    definition = definition_of(path)
    assert definition.trees[0]["type"] == kind
    said = " ".join(definition.untold["a"])
    assert all(words in said for words in untold)
    assert bool(untold) is bool(said)


def test_an_agent_as_a_tree_builds_the_same_agent_again() -> None:
    tree = {
        "type": "llm",
        "name": "host",
        "instruction": "hi {name?}",
        "model": {"name": "m"},
        "output_key": "k",
        "tools": [{"name": "look", "description": "looks", "parameters": {"type": "object"}, "long_running": True}],
        "sub_agents": [
            {
                "type": "llm",
                "name": "scout",
                "mode": "task",
                "output_schema": {"type": "OBJECT"},
                "model": {"name": "m"},
            },
            {"type": "loop", "name": "again", "max_iterations": 2, "sub_agents": [{"type": "llm", "name": "x"}]},
        ],
    }
    root = definition_of(tree).roots[0]
    assert tree_of(root) == tree
