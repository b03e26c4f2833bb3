"""Go ↔ Python: every engine module names its Go home, and the README's table says what the docstrings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb.gomap import BEGIN, END, ENGINE, Entry, entries, go_homes, split, table, write

README = Path(__file__).parents[1] / "README.md"

NO_GO_HOME = {
    "__init__.py": "the reading order",
    "errors.py": "Go's errors are values made where they occur; ours are classes in one tree",
    "live/__init__.py": "the reading order",
    "live/errors.py": "Go's errors are values made where they occur; ours are classes in one tree",
    "loops.py": "Go has no `async`: a goroutine waits wherever it likes",
    "stops.py": "Go's Flow does not pause: this is what adknb adds",
    "processors/contents/fates.py": "Go does not say why an event is not in the request: this is what adknb adds",
    "copies/__init__.py": "Go's generated types copy themselves",
    "copies/packed.py": "Go's copies need no packing",
    "copies/promises.py": "Go copies at once; ours are copied when they are first touched",
    "copies/frozen.py": "Go's generated types copy themselves",
    "processors/contents/records.py": "Go's passes hand events around; ours hand around records that know their event",
}
"""Modules of the engine without a Go home, and why."""


@pytest.fixture(scope="module")
def found() -> list[Entry]:
    return entries()


def test_every_module_names_its_go_home_or_has_a_reason(found: list[Entry]) -> None:
    modules = {path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py")}
    with_home = {entry.source.removeprefix("adknb/engine/") for entry in found}
    assert sorted(modules - with_home) == sorted(NO_GO_HOME)


def test_the_table_in_the_readme_is_that_of_the_docstrings() -> None:
    _, between, _ = split(README.read_text(encoding="utf-8"))
    assert between.strip() == table(), "run: python -m adknb.gomap README.md"


def test_every_link_of_the_table_leads_to_a_file(found: list[Entry]) -> None:
    sources = {entry.source for entry in found}
    assert len(sources) > 30
    assert [source for source in sorted(sources) if not (README.parent / source).is_file()] == []


@pytest.mark.parametrize(
    "go_file, go_name, python",
    [
        ("internal/llminternal/base_flow.go", "Flow.Run", "adknb.engine.flow.Flow.run"),
        ("internal/llminternal/base_flow.go", "runOneStep", "adknb.engine.flow.Flow.run_one_step"),
        ("internal/llminternal/base_flow.go", "callLLM", "adknb.engine.model_call.call_llm"),
        ("internal/llminternal/base_flow.go", "callTool", "adknb.engine.function_calls.call_tool"),
        ("internal/llminternal/base_flow.go", "DefaultRequestProcessors", "adknb.engine.processors"),
        (
            "internal/llminternal/contents_processor.go",
            "buildContentsDefault",
            "adknb.engine.processors.contents.assemble",
        ),
        ("internal/llminternal/other_processors.go", "authPreprocessor", "adknb.engine.processors.auth"),
        ("runner/runner.go", "findAgentToRun", "adknb.engine.runner.find_agent_to_run"),
        ("session/session.go", "Event.IsFinalResponse", "adknb.engine.event.Event.is_final_response"),
        ("platform/exec.go", "RunTasks", "adknb.engine.platform"),
    ],
)
def test_what_the_seed_names_is_found(found: list[Entry], go_file: str, go_name: str, python: str) -> None:
    assert (go_file, go_name, python) in {entry[:3] for entry in found}


@pytest.mark.parametrize(
    "docstring, homes",
    [
        ("Go: a/b.go", [("a/b.go", "")]),
        ("Go: a/b.go, F, T.m; c_d.go, G", [("a/b.go", "F"), ("a/b.go", "T.m"), ("c_d.go", "G")]),
        ("Says it. Go: a/b.go, F", [("a/b.go", "F")]),
        (
            "Does it.\n\n    Go: a/b.go, F,\n    G; c.go\n\n    And more; of this.",
            [("a/b.go", "F"), ("a/b.go", "G"), ("c.go", "")],
        ),
        ("Go: a.go, F\n\nGo: b.go, G", [("a.go", "F"), ("b.go", "G")]),
        ("Go: encoding/json, Marshal; fmt", [("encoding/json", "Marshal"), ("fmt", "")]),
        ("One sentence (Go: `(value, nil)`, `(nil, nil)`).", []),
        ("Where it differs from Go: nothing is kept.", []),
        ("As in Go, and no more.", []),
        ("", []),
    ],
)
def test_a_docstring_is_read(docstring: str, homes: list[tuple[str, str]]) -> None:
    assert go_homes(docstring) == homes


@pytest.mark.parametrize(
    "docstring",
    [
        "Go: a/b.go, the tags of Event",
        "Go: a/b.go, F.",
        "Go: a/b.go,F",
        "Go: a/b.go, F and G",
        "Go: a/b.go, c/d.go",
        "Go: a/b.go F",
        "Go: a/b.go, F;",
    ],
)
def test_a_go_line_that_cannot_be_read_is_named(docstring: str) -> None:
    with pytest.raises(ValueError, match=r"adknb\.engine\.x: expected .* after 'Go:', found "):
        go_homes(docstring, "adknb.engine.x")


MODULE = '''"""Does things.

Go: a/b.go, F, T.m; z.go
"""

class T:
    """A thing. Go: a/b.go, T"""

    async def m(self):
        """Go: a/b.go, T.m"""
        def inner():
            """Go: a/b.go, inner"""

def helper():
    """Nothing of Go's."""
'''


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    folder = tmp_path / "adknb" / "engine"
    (folder / "sub").mkdir(parents=True)
    (folder / "things.py").write_text(MODULE, encoding="utf-8")
    (folder / "sub" / "__init__.py").write_text('"""Go: a/b.go, G; fmt, Sprint"""', encoding="utf-8")
    return folder


def test_modules_classes_and_functions_are_read_with_their_places(engine: Path) -> None:
    things, sub = "adknb/engine/things.py", "adknb/engine/sub/__init__.py"
    assert entries(engine) == [
        Entry("a/b.go", "G", "adknb.engine.sub", sub),
        Entry("fmt", "Sprint", "adknb.engine.sub", sub),
        Entry("a/b.go", "F", "adknb.engine.things", things),
        Entry("a/b.go", "T.m", "adknb.engine.things", things),
        Entry("z.go", "", "adknb.engine.things", things),
        Entry("a/b.go", "T", "adknb.engine.things.T", things),
        Entry("a/b.go", "T.m", "adknb.engine.things.T.m", things),
        Entry("a/b.go", "inner", "adknb.engine.things.T.m.inner", things),
    ]


def test_the_table_has_a_row_for_each_file_of_adk_go(engine: Path) -> None:
    assert table(engine).splitlines()[2:] == [
        "| `a/b.go` | [sub](adknb/engine/sub/__init__.py) `G`<br>"
        "[things](adknb/engine/things.py) `F` `T.m` `T` `inner` |",
        "| `z.go` | [things](adknb/engine/things.py) |",
    ]


def test_the_table_is_written_between_the_markers(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# é\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write(readme)
    write(readme)
    assert readme.read_text(encoding="utf-8") == f"# é\n{BEGIN}\n{table()}\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", BEGIN, f"{END} {BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_file_without_both_markers_is_left_as_it_was(tmp_path: Path, text: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="expected <!-- gomap --> and then <!-- /gomap -->, once each"):
        write(readme)
    assert readme.read_text(encoding="utf-8") == text
