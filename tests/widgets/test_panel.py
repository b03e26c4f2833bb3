"""The kernel's side of the panel: messages come in through the very handler a comm calls, state and answers go out."""

import gc
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import adknb
from adknb import at
from adknb.widgets.panel import assets
from adknb.widgets.panel import panel as panel_module
from adknb.widgets.panel.panel import WIDGET_VIEW, mimebundle, panel_of
from adknb.widgets.panel.widget import Panel
from tests.widgets.runs import HOSTILE, golden, said, weather

PACKAGE = Path(panel_module.__file__).parent
COMMANDS = ("step", "next", "finish", "resume")


class Wire:
    """A panel whose messages are written down: `send` is what a browser says, `heard` what it is told."""

    def __init__(self, stepper):
        self.stepper = stepper
        self.panel = Panel(stepper)
        self.heard = []
        self.panel.send = lambda content, buffers=None: self.heard.append(content)
        self.state = self.panel.get_state()
        self.stops, self.rows = list(self.state["stops"]), list(self.state["rows"])

    def send(self, **message):
        """Say something; gives the answers, and keeps the tree and the table as a browser does."""
        self.heard.clear()
        self.panel._on_message(self.panel, message, [])
        assert self.panel._line.join(60)
        for m in self.heard:
            json.dumps(m, ensure_ascii=False, allow_nan=False).encode()
            self.take(m)
        return list(self.heard)

    def take(self, m):
        if m["type"] == "stops":
            self.stops = self.stops[: m["at"]] + m["rows"]
            for i, row in m["set"]:
                self.stops[i] = row
        if m["type"] == "rows":
            self.rows = self.rows[: m["at"]] + m["rows"]

    def answer(self, kind, **message):
        return next(m for m in self.send(**message) if m["type"] == kind)

    @property
    def view(self):
        return self.panel.view


@pytest.mark.parametrize("command", [*COMMANDS, "back", "restart"])
def test_a_command_from_the_browser_is_the_command_of_the_stepper(command):
    wire, twin = Wire(weather().until(at("instructions"))), weather().until(at("instructions"))
    wire.send(type=command)
    getattr(twin, command)()
    assert repr(wire.stepper) == repr(twin)
    assert wire.panel.errors == []


def test_the_book_offers_the_commands_that_the_stepper_has_and_no_others():
    stepper = weather()
    offered = {c[0] for c in Panel(stepper).book["commands"]}
    assert offered >= set(COMMANDS)
    assert all(callable(getattr(stepper, c, None)) for c in offered)
    assert len(Panel(stepper).book["stages"]) == 17


def test_a_view_is_small_and_says_where_the_run_stands():
    wire = Wire(weather().until(at("model")))
    view = wire.view
    assert view["at"]["crumb"] == ["Turn 1", "weather_agent", "Step 1"]
    assert (view["at"]["name"], view["at"]["phase"]) == ("model", "before")
    assert [s["state"] for s in view["stages"]] == ["done"] * 14 + ["here", "next", "next"]
    assert view["here"] == 14
    assert len(json.dumps(view)) < 5_000


def test_stages_say_what_they_wrote():
    stages = Wire(weather().until(at("model"))).view["stages"]
    assert [(s["says"], s["full"]) for s in stages[:8]] == [
        ("added nothing.", False),
        ("added nothing.", False),
        ("", False),  # a no-op
        ("added nothing.", False),
        ("wrote 1 paragraph.", True),
        ("wrote 1 paragraph.", True),
        ("added nothing.", False),
        ("wrote 1 content.", True),
    ]


@pytest.mark.parametrize("name", ["seed/weather_question", "parallel/7", "callbacks/0", "loop/0"])
def test_a_browser_that_hears_every_message_has_what_a_new_one_is_given(name):
    wire = Wire(adknb.step(golden(name)))
    for n in range(250):
        if wire.stepper.here is None:
            break
        wire.send(type=COMMANDS[n % 3])
    state = wire.panel.get_state()
    assert wire.stops == state["stops"]
    assert wire.rows == state["rows"]
    assert (wire.view["nstops"], wire.view["nrows"]) == (len(wire.stops), len(wire.rows))
    assert wire.panel.errors == []


def test_a_cell_that_steps_is_seen_too():
    wire = Wire(weather())
    wire.stepper.until(at("contents"))
    assert wire.view["at"]["name"] == "contents"
    assert [m["type"] for m in wire.heard] == ["stops", "rows"]


def test_a_browser_that_missed_messages_is_given_them():
    wire = Wire(weather())
    wire.stepper.until(at("model", step=2))
    wire.heard.clear()  # sent before the browser had loaded its module
    assert wire.view["sent"] != wire.state["base"]
    wire.send(type="sync", rows=len(wire.rows))
    assert wire.stops == wire.panel.get_state()["stops"]
    assert wire.rows == wire.panel.get_state()["rows"]
    assert wire.heard[-1]["sent"] == wire.view["sent"]


def test_run_to_here_goes_on_until_that_stage():
    wire = Wire(weather())
    wire.send(type="until", at="processor:contents")
    assert str(wire.stepper.here) == "after processor contents"
    wire.send(type="until", at="stage:tools")
    assert str(wire.stepper.here) == "before tool get_weather"


def test_a_past_stop_can_be_gone_back_to():
    wire = Wire(weather().until(at(tool="get_weather")).next())
    row = next(row for row in wire.stops if row[2] == "contents")
    wire.send(type="rewind", stop=row[11])
    assert str(wire.stepper.here) == "before processor contents"
    assert wire.stops == wire.panel.get_state()["stops"]
    assert wire.stepper.position == row[11]
    wire.send(type="resume")
    assert wire.stepper.tools_run.count("get_weather") == 1


@pytest.mark.parametrize("key", ["processor:identity", "stage:model", "stage:declare", "append", "tool:get_weather"])
def test_a_breakpoint_is_set_told_and_taken_away(key):
    wire = Wire(weather())
    wire.send(type="break", at=key, on=True)
    [[told, words]] = wire.view["marks"]
    assert told == key or not key.startswith(("processor", "stage", "tool"))
    wire.send(type="resume")
    assert wire.stepper.here is not None
    assert words in wire.view["note"]
    wire.send(type="break", words=words)
    assert wire.view["marks"] == []


def test_a_breakpoint_from_a_cell_is_told_in_its_words():
    wire = Wire(weather())
    wire.stepper.break_at(at("model") & at(step=2))
    assert wire.view["marks"] == [["", "at('model') & at(step=2)"]]
    wire.send(type="break", words="at('model') & at(step=2)")
    assert wire.stepper.breakpoints == []


# ---- the editor


def draft(wire, change):
    answer = wire.answer("text", type="text", why="edit")
    data = json.loads(answer["text"])
    change(data)
    return {"text": json.dumps(data, indent=2), "stop": answer["stop"]}


def ask_shanghai(data):
    data["contents"][0]["parts"][0]["text"] = "上海呢？"


def test_an_applied_draft_is_what_the_model_is_asked():
    wire = Wire(weather().until(at("model")))
    said = wire.send(type="edit", **draft(wire, ask_shanghai))
    assert [m["type"] for m in said if m["type"] in ("problem", "applied")] == ["problem", "applied"]
    assert wire.stepper.request.contents[0].parts[0].text == "上海呢？"
    assert wire.view["edited"]
    wire.send(type="next")
    assert wire.stepper.requests[0]["contents"][0]["parts"][0]["text"] == "上海呢？"
    assert wire.stepper.events[0].content.parts[0].text == "杭州天气怎么样？"
    assert not wire.view["edited"]


def test_an_edit_can_be_undone_at_its_stop():
    wire = Wire(weather().until(at("model")))
    before = wire.stepper.request_now
    wire.send(type="edit", **draft(wire, ask_shanghai))
    wire.send(type="edit", **draft(wire, lambda d: d["contents"].clear()))
    wire.send(type="unedit")
    assert wire.stepper.request_now == before
    assert not wire.view["edited"]


@pytest.mark.parametrize(
    "text, line, where, message",
    [
        ("{", 1, "JSON", "not JSON"),
        ('{"model": "m",\n "contents": 5, "config": {}}', 2, "contents", "expected a list, found a number 5"),
        (
            '{"model": "m", "config": {},\n "contents": [{"role": "user",\n "parts": [{"txt": "a"}]}]}',
            3,
            "contents[0].parts[0].txt",
            "Part has no field 'txt'",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["check", "edit"])
def test_a_wrong_draft_is_told_at_its_field_and_touches_nothing(kind, text, line, where, message):
    wire = Wire(weather().until(at("model")))
    before = wire.stepper.request_now
    problem = wire.answer("problem", type=kind, text=text, stop=wire.stepper.position)
    assert (problem["line"], problem["where"]) == (line, where)
    assert message in problem["message"]
    assert wire.stepper.request_now == before
    assert not wire.view["edited"]


def test_a_good_draft_has_no_problem_and_is_not_applied_by_checking():
    wire = Wire(weather().until(at("model")))
    problem = wire.answer("problem", type="check", **draft(wire, ask_shanghai))
    assert problem["line"] == 0
    assert wire.stepper.request.contents[0].parts[0].text == "杭州天气怎么样？"


def test_a_draft_begun_at_another_stop_is_refused():
    wire = Wire(weather().until(at("contents")))
    old = draft(wire, ask_shanghai)
    wire.stepper.until(at("model"))
    assert "moved on" in wire.answer("problem", type="edit", **old)["message"]
    assert wire.stepper.request.contents[0].parts[0].text == "杭州天气怎么样？"


@pytest.mark.parametrize(
    "go, locked",
    [
        (lambda d: d, "No request is being built here."),
        (lambda d: d.until(at("contents")), ""),
        (lambda d: d.until(at("model")), ""),
        (lambda d: d.until(at("model")).next(), "This request has been sent; the next one can be edited."),
        (lambda d: d.until(at(tool="get_weather")), "This request has been sent; the next one can be edited."),
        (lambda d: d.resume(), "The run is over."),
    ],
)
def test_the_request_can_be_edited_until_it_is_sent(go, locked):
    wire = Wire(go(weather()))
    assert wire.view["locked"] == locked
    if locked and wire.stepper.request is not None:
        assert locked in wire.answer("problem", type="edit", text="{}", stop=0)["message"]


# ---- what is asked for


def test_the_request_page_marks_what_changed_since_the_last_pause_or_the_last_request():
    wire = Wire(weather().until(at("model")).until(at("contents", step=2)))
    page = wire.answer("page", type="page", name="Request", against="stop")
    assert page["sum"] == "2 changes"
    wire.send(type="next")
    assert wire.answer("page", type="page", name="Request", against="stop")["sum"] == "No change."
    assert wire.answer("page", type="page", name="Request", against="request")["sum"] != "No change."


@pytest.mark.parametrize("name", ["seed/weather_question", "callbacks/0", "parallel/7", "contents/0", "confirmation/0"])
def test_every_question_has_an_answer_at_every_stop(name):
    wire = Wire(adknb.step(golden(name)))
    for n in range(120):
        wire.answer("page", type="page", name="Request", against=("stop", "request")[n % 2])
        wire.answer("page", type="page", name="State")
        assembly = wire.answer("assembly", type="assemble", ask=n, viewer=None, open=[])
        assert assembly["ask"] == n
        assert set(assembly) & {"rows", "none", "error"}
        wire.answer("fates", type="fates")
        if wire.rows:
            assert "author" in wire.answer("row", type="row", i=len(wire.rows) - 1)["json"]
        assert wire.panel.errors == []
        if wire.stepper.here is None:
            break
        wire.send(type="next")


def test_what_if_another_agent_looked():
    wire = Wire(adknb.step(golden("parallel/7")).resume())
    agents = {a["name"]: a for a in wire.view["agents"]}
    assert list(agents) == ["team", "north", "south", "east"]
    viewer = {"agent": "north", "branch": agents["north"]["branch"], "scope": ""}
    answer = wire.answer("assembly", type="assemble", ask=1, viewer=viewer, open=[])
    assert answer["viewer"]["agent"] == "north"
    assert answer["off"] > 0
    assert wire.panel.errors == []


def test_what_if_only_the_current_turn_were_sent():
    wire = Wire(said("one", "two").until(at("contents", turn=2)))
    own = wire.answer("assembly", type="assemble", ask=1, viewer=None, open=[])
    other = wire.answer("assembly", type="assemble", ask=2, viewer={**own["viewer"], "include": "none"}, open=[])
    assert (own["off"], own["sizes"][-1]) == (-1, 3)
    assert (other["off"], other["sizes"][-1]) == (2, 1)


# ---- nothing is lost


BROKEN = [
    {"type": "nonsense"},
    {},
    "text",
    None,
    {"type": "row", "i": 99},
    {"type": "row"},
    {"type": "until", "at": "processor:nobody"},
    {"type": "until", "at": "nowhere:x"},
    {"type": "break", "at": "tool:gone", "on": True},
    {"type": "break", "words": "never set"},
    {"type": "page"},
    {"type": "assemble", "ask": 1, "viewer": 5},
    {"type": "close"},
    {"type": "_advance"},
    {"type": "skip"},
]


@pytest.mark.parametrize("message", BROKEN, ids=str)
def test_an_error_in_a_handler_is_kept_and_shown_and_the_run_stays_where_it_was(message):
    wire = Wire(weather().until(at("model")))
    stop = wire.stepper.here
    wire.panel._on_message(wire.panel, message, [])
    assert wire.panel._line.join(60)
    assert wire.view["problem"]
    assert len(wire.panel.errors) == 1
    assert wire.stepper.here is stop
    wire.send(type="next")
    assert wire.view["problem"] == ""


def test_a_step_of_a_run_that_is_over_is_told():
    wire = Wire(weather().resume())
    wire.send(type="step")
    assert "over" in wire.view["note"]
    assert wire.view["over"]


def test_an_error_of_the_turn_is_told_at_its_end():
    wire = Wire(said("one").until(at("model")))
    wire.stepper.fail("the line is dead").finish()
    assert wire.view["problem"] == "Turn 1 ended with RuntimeError: the line is dead"


def test_what_a_tool_prints_behind_a_button_is_shown(capsys):
    def shout(word: str) -> dict:
        """Shouts."""
        print(word.upper())
        return {"ok": True}

    from google.genai import types

    call = types.Content(
        role="model", parts=[types.Part(function_call=types.FunctionCall(name="shout", args={"word": "hi"}))]
    )
    wire = Wire(said(call, "done", tools=[adknb.FunctionTool(shout)]).until(at(tool="shout")))
    wire.send(type="next")
    assert wire.view["printed"] == "HI\n"
    assert capsys.readouterr().out == ""
    wire.send(type="next")
    assert wire.view["printed"] == ""


def test_prints_of_other_threads_go_where_they_always_went(capsys):
    from adknb.widgets.printed import caught_prints

    with caught_prints() as outer:
        thread = threading.Thread(target=print, args=("from elsewhere",))
        thread.start()
        thread.join()
        print("mine")
        with caught_prints() as inner:
            print("inner")
        print("mine again")
    print("after")
    assert (outer.getvalue(), inner.getvalue()) == ("mine\nmine again\n", "inner\n")
    assert capsys.readouterr().out == "from elsewhere\nafter\n"


def test_twenty_threads_pressing_buttons_at_once_lose_nothing():
    wire = Wire(said(*["yes"] * 30))
    start = len(wire.stepper.stops)

    def press():
        for _ in range(5):
            wire.panel._on_message(wire.panel, {"type": "step"}, [])

    threads = [threading.Thread(target=press) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wire.panel._line.join(60)
    assert len(wire.stepper.stops) == start + 100
    assert wire.panel.errors == []
    wire.stops, wire.rows = list(wire.state["stops"]), list(wire.state["rows"])
    for m in wire.heard:
        wire.take(m)
    assert wire.stops == wire.panel.get_state()["stops"]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_travels(text):
    wire = Wire(said(text, user=text, instruction=lambda ctx: text, generate_content_config=None).until(at("model")))
    wire.stepper.request.contents[0].parts.append(wire.stepper.request.contents[0].parts[0].model_copy())
    for message in (
        {"type": "page", "name": "Request", "against": "stop"},
        {"type": "assemble", "ask": 1, "viewer": None, "open": []},
        {"type": "text", "why": "edit"},
        {"type": "row", "i": 0},
        {"type": "next"},
        {"type": "resume"},
        {"type": "page", "name": "State"},
    ):
        wire.send(**message)
    assert wire.panel.errors == []
    state = wire.panel.get_state()
    json.dumps({k: state[k] for k in ("view", "stops", "rows", "book")}, ensure_ascii=False, allow_nan=False).encode()


# ---- in a notebook


def test_a_stepper_shows_itself_in_three_forms():
    stepper = weather()
    bundle = mimebundle(stepper)
    assert set(bundle) == {"text/plain", "text/html", WIDGET_VIEW}
    assert bundle["text/plain"] == repr(stepper)
    assert bundle["text/html"].startswith("<div")
    assert mimebundle(stepper)[WIDGET_VIEW] == bundle[WIDGET_VIEW]
    assert panel_of(stepper).stepper is stepper


def test_without_anywidget_it_is_text_and_html():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import json; from tests.widgets.runs import weather\n"
        "from adknb.widgets.panel.panel import mimebundle\n"
        "print(sorted(mimebundle(weather())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parents[2])
    assert done.stdout.strip() == "['text/html', 'text/plain']", done.stderr


def test_the_repr_of_a_panel_says_what_it_shows():
    assert repr(Panel(weather())) == "Panel(stop 0: before append user)"
    assert repr(Panel(weather().resume())) == "Panel(run over)"


def test_a_panel_does_not_keep_old_requests_alive():
    wire = Wire(weather().until(at("model")))
    wire.send(type="page", name="Request", against="stop")
    wire.send(type="resume")
    gc.collect()
    assert wire.panel._changes is None


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_the_javascript_is_a_module(tmp_path):
    copy = tmp_path / "panel.mjs"
    copy.write_text(assets.module(), encoding="utf-8")
    done = subprocess.run(["node", "--check", str(copy)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_module_and_styles_stay_small():
    assert len((assets.module() + assets.styles()).encode()) < 160_000


def test_no_text_is_ever_parsed_as_markup():
    source = assets.module()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser"):
        assert way not in source
