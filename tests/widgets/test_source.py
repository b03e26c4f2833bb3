"""Source: what is shown at a stop, where it is, and in which colours."""

import functools

import pytest

import adknb
from adknb import at
from adknb.engine.llm_agent import LlmAgent
from adknb.engine.model import FunctionModel
from adknb.engine.processors import REQUEST_PROCESSORS
from adknb.engine.stops import Seam
from adknb.lens.flow_position import BEHIND, PROCESSORS
from adknb.lens.sections import sections_of
from adknb.widgets.code_text import coloured, go_home, source_of, unwrapped
from adknb.widgets.source import AROUND, code_blocks, source_page, text
from tests.widgets.runs import HOSTILE, weather
from tests.widgets.runs_a import find_trains, trip


def code(page):
    """The first line's number and the text of the source that a page shows."""
    _, first, lines = next(block for column in page["columns"] for block in column if block[0] == "source")
    return first, ["".join(t for _, t in line) for line in lines]


def shown(page):
    return code(page)[1][0]


def test_every_seam_has_a_function_of_the_engine_around_it():
    assert set(AROUND) == set(Seam)
    for function in AROUND.values():
        assert source_of(function)["file"].startswith("adknb/engine/")
        assert go_home(function)


@pytest.mark.parametrize(
    "wish, first_line",
    [
        (at("contents"), "def contents(ctx: InvocationContext, request: LLMRequest, flow: Any) -> None:"),
        (at("instructions", phase="before"), "def instructions("),
        (at(seam="tool_declaration"), "def declare_tools(self, ctx: InvocationContext, request: LLMRequest) -> None:"),
        (at(seam="merge"), "def merge_events(events: list[Event]) -> Event:"),
        (at(seam="append"), "def append_event(self, session: Session, event: Event) -> None:"),
    ],
)
def test_the_function_of_the_stop_is_shown(wish, first_line):
    assert shown(source_page(weather().until(wish))).startswith(first_line)


def test_a_readers_own_functions_show_their_own_text_and_who_calls_them():
    def shout(ctx, request, flow):  # a processor of one's own
        request.append_instructions("Shout.")

    def mind(ctx, request):
        """Look at what is sent."""

    def add(a: int) -> dict:
        """Add."""
        return {"a": a}

    def speak(request):
        return "yes"

    agent = LlmAgent(
        "a",
        FunctionModel(speak, name="m"),
        tools=[add],
        before_model=functools.partial(mind),
        request_processors=[*REQUEST_PROCESSORS, shout],
    )
    dbg = adknb.step(agent, "hi").until(at("shout"))
    page = source_page(dbg)
    assert shown(page).startswith("def shout(ctx, request, flow):  # a processor of one's own")
    says = [block for block in page["columns"][0] if block[0] == "p"]
    assert "this agent's own" in says[0][1]
    assert any("internal/llminternal/base_flow.go" in str(block) for block in says)
    assert shown(source_page(dbg.until(at(seam="before_model")))).startswith("def mind(ctx, request):")
    assert shown(source_page(dbg.until(at(seam="model")))).startswith("def speak(request):")
    assert shown(source_page(trip().until(at(tool="find_trains")))).startswith("def find_trains(ctx, to: str) -> dict:")


def test_the_function_around_and_each_pass_can_be_chosen():
    dbg = weather().until(at("contents"))
    page = source_page(dbg)
    names = [value for value, _ in page["options"]]
    assert names[:2] == ["here", "around"] and "pass:foreign" in names and len(names) == 2 + 12
    assert shown(source_page(dbg, show="around")).startswith("def preprocess(")
    assert shown(source_page(dbg, show="pass:foreign")).startswith("def convert_foreign_events(")
    assert source_page(dbg, show="no such thing")["show"] == "here"


def test_every_stage_of_the_track_can_be_looked_at_whatever_the_run_does():
    dbg = weather().resume()
    assert dbg.here is None
    assert source_page(dbg)["options"] == []
    for k, (name, _, _) in enumerate(PROCESSORS + BEHIND):
        page = source_page(dbg, k)
        assert page["picked"]
        assert page["columns"][0][0][1] == name
        assert "def " in "\n".join(code(page)[1])


@pytest.mark.parametrize("key", [*(name for name, *_ in PROCESSORS + BEHIND), *map(str, Seam)])
def test_every_stage_and_seam_is_explained_by_a_section(key):
    for section in sections_of("tools_run" if key == "tools" else key):
        assert section.article in ("000", "004") and section.number
        assert section.summary.endswith(".") and len(section.summary) < 260


class Called:
    def __call__(self, ctx):
        return ctx


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
def inside(ctx):
    """Inside."""


@pytest.mark.parametrize(
    "function, begins",
    [
        (Called(), "def __call__(self, ctx):"),
        (Called().__call__, "def __call__(self, ctx):"),
        (inside, "@decorated"),
        (functools.partial(functools.partial(find_trains, 1), to=2), "def find_trains"),
        (lambda ctx: None, "(lambda ctx: None,"),
    ],
)
def test_a_callable_of_any_kind_is_found(function, begins):
    assert source_of(function)["text"].startswith(begins)


@pytest.mark.parametrize("function", [len, dict.update, eval("lambda x: x"), 3, None, functools.partial(len)])
def test_what_has_no_python_text_is_told_as_such(function):
    assert source_of(function) is None
    blocks = code_blocks(function)
    assert "There is no Python text" in str(blocks)
    assert "0x" not in str(blocks)


def test_unwrapping_ends():
    class Endless:
        __call__ = None

    Endless.__call__ = Endless()
    assert unwrapped(Endless()) is not None


def kinds(source):
    return [[(kind, t.strip()) for kind, t in line if kind] for line in coloured(source)]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("def f(x):", [[("kw", "def"), ("def", "f"), ("op", "("), ("op", "):")]]),
        ('x = "a" # b', [[("op", "="), ("str", '"a"'), ("com", "# b")]]),
        ("if True: return 1", [[("kw", "if True"), ("op", ":"), ("kw", "return"), ("num", "1")]]),
        ('"""a\nb"""', [[("str", '"""a')], [("str", 'b"""')]]),
        ("class K:", [[("kw", "class"), ("def", "K"), ("op", ":")]]),
        ("", [[]]),
    ],
)
def test_texts_are_coloured_by_token(source, expected):
    assert kinds(source) == expected


@pytest.mark.parametrize("source", [*HOSTILE, "def f(:\n  '", "x = '''", "\t\tif", "f'{x'", "(lambda: 1),", "\x00"])
def test_no_character_is_lost_or_added_whatever_the_text(source):
    back = "\n".join("".join(t for _, t in line) for line in coloured(source))
    assert back.replace("\ufffd", "?") == "".join("?" if "\ud800" <= c <= "\udfff" else c for c in source)


def test_a_long_function_is_cut_and_the_rest_counted(tmp_path):
    path = tmp_path / "long_one.py"
    path.write_text("def long_one():\n" + "    x = 1\n" * 1_000)
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    blocks = code_blocks(namespace["long_one"])
    assert len(next(b for b in blocks if b[0] == "source")[2]) == 400
    assert "601 more lines" in str(blocks[-1])


def test_the_text_form_names_the_file_and_the_sections():
    lines = text(weather().until(at("identity"))).splitlines()
    assert lines[:2] == [
        "source    identity · adknb/engine/processors/identity.py",
        "  go        internal/llminternal/identity_request_processor.go, identityRequestProcessor",
    ]
    assert lines[2].startswith("  000 四.1.5")
    assert text(weather().resume()) == "source    the run is over"
