"""Which section of the two articles on the Flow explains a stage, a seam or a pass, with a summary of our own.

The articles are the seeds of this project: 000 reads the source of ADK-Go 2.4.0 (the one that is followed), 004 walks
through an earlier state of the same loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

ARTICLES = {
    "000": "ADK-Go source notes: Flow, how one turn of an LLM agent runs",
    "004": "ADK 2.x-Go, part 05: the loop of the LLM Flow",
}
"""What each article is called; both are in Chinese."""


@dataclass(frozen=True)
class Section:
    """A section of an article, and what it says about the thing at hand, in our words."""

    article: str
    number: str
    summary: str


_TABLE = """
basic
  000 四.1.1
    The agent's config is cloned first, so that every later stage writes to this step's copy only.
tools
  000 四.1.2
    Tools and toolsets are listed once for a run; what is listed here is not yet declared to the model.
  000 二.1
    Two things are called tools: the declarations that are sent, and the local table that is not.
auth
  000 二.4
    The stage has a name and a place but no body in this version: trust the code, not the name.
confirmation
  000 四.1.3
    A person's answer is looked up before the model is asked; the approved call, or its refusal, runs first.
  000 四.6.1
    Two ids are at work: the question has its own, and it points back to the call that waits.
instructions
  000 四.1.4
    The root's global text comes first, then the agent's own. Placeholders are filled in templates, never in what
    a provider function returns.
identity
  000 四.1.5
    The agent's name and description become ordinary prompt text; bound to a single turn, it goes without.
compaction
  000 四.1.6
    A summary written now must be in the session before the contents are built, or this very request would miss
    it.
  000 四.2.6
    Summaries count only in a run that has compaction configured: a record in a file alone hides nothing.
contents
  000 四.2
    History is not copied to the model: it is filtered, reworded, paired and tidied into a view for this one
    agent.
  004 4.1
    Of all processors this one carries multi-agent systems: branch and scope decide which history an agent reads.
planning
  000 二.4
    A no-op here; it stands behind contents because planning would mark parts of them as thoughts.
code_execution
  000 二.4
    A no-op here; it stands behind contents because it would rewrite data files in them.
output_schema
  000 四.1.8
    Where a Gemini model cannot take a schema beside tools, the answer's form becomes a tool of its own.
  000 四.6.2
    What that tool was given is written once more as the final text; nobody checks whether it was an error.
transfer
  000 四.1.9
    The agents one may hand over to become a tool with an enumeration, and a paragraph that says who is good at
    what.
display_name
  000 四.1.10
    File names meant for people are taken off for the Gemini API; what tools add later is not covered.
declare
  000 四.1.2
    Each listed tool now does two things: it declares itself to the model and enters the local table.
response_processor
  000 二.4
    Both of ADK's response processors are empty in this version; their places are kept.
live_connect
  000 四.9
    A live run dials once and again whenever the line breaks in certain ways; a handle, if the server gave one, goes
    along.
live_send
  000 四.9
    What the reader sends, the history and the tools' answers all go out on the one open connection.
live_wait
  000 四.9
    Nothing has arrived and nothing is to be sent: going on means waiting for the server.
live_receive
  000 四.9
    Each message of the server becomes a response and then an event; no model callback is asked about it.
model
  000 四.3
    Callbacks stand around the call: one before it may answer in its place, one behind it sees every chunk.
  004 五
    The first callback with an answer ends the asking; that is how caches and test doubles hook in.
before_model
  000 四.3.1
    Change the request in place and answer nothing: the model is then asked with what you have written.
  000 四.3.2
    An answer from here skips the model and the after-model callbacks, but not what the Flow does with it next.
on_model_error
  000 四.3.3
    An answer from here stands in for the error; without one the error goes on up and ends the turn.
after_model
  000 四.3.4
    It is asked for each chunk and for the whole, also for an answer that stands in for an error.
tools_run
  000 四.5
    Only a whole answer runs its calls: side by side, each in a context of its own, results put back in order.
  004 七
    Who runs the tasks can be replaced, so a test can make what runs side by side happen in one fixed order.
before_tool
  000 四.5.1
    An answer from here is the tool's result: the tool is skipped, after-tool callbacks are not. Edit the
    arguments in place to keep the call.
tool
  000 四.5.4
    A tool that fails does not end the turn: its error becomes a result the model can read.
  000 四.5.2
    Calls of one answer run at once; what they do outside can finish in any order.
on_tool_error
  000 四.5.4
    The last chance to turn an error into a result before it is written down as one.
after_tool
  000 四.5.1
    It is asked behind a result, an error and a skipped tool alike, and may replace what it is given.
merge
  000 四.5.3
    Results become one event in the order of the calls. Maps are merged into maps; for anything else the later
    call wins.
  004 7.3
    Deciding actions, a transfer or an escalation, are not merged: the last one wins.
event
  000 二.3
    The Flow's events are what it returns upward; whoever drives it decides what happens to each.
on_event
  000 三
    A plugin sees an event before it is stored and may put another in its place.
append
  000 三
    The model's event is stored before its tools run, and the next request is built from what is stored: so the
    circle closes.
handover
  000 四.7
    A transfer is a tool call with an effect: behind the tool's result the other agent runs inside this very step.
  004 八
    The other agent's events pass through unchanged; the next message then finds it as the last speaker.
delegate
  000 四.2.3
    A delegated agent reads its own scope only, so its task is put in front of what it sees.
summarize
  000 四.1.6
    The threshold triggers, the tail is kept, and pairs of call and response are never torn apart.
before_agent
  000 三
    An agent's run is wrapped in hooks; an answer in front stands in for the whole run.
after_agent
  000 三
    Behind the run a hook may add one more event.
on_user_message
  000 三
    The message can still be replaced before it is stored as the turn's first event.
before_run
  000 三
    An answer here ends the turn before any agent runs.
after_run
  000 三
    However the turn ended, every plugin hears of it.
turn
  000 三.1.1
    Whether to go on is asked once a step is over, of its last event: final, partial, or one more round.
  000 四.10
    An error, a cancelled run and a reader who leaves are three different ends.
collect
  000 四.2.6
    Without compaction configured, stored summaries are as good as absent.
turn_cut
  000 四.2.1
    Asked for no history, an agent reads from the last thing said by the user or by another agent.
filter
  000 四.2.2
    A branch sees itself and what lies above it, compared up to a dot; brothers do not see each other.
  000 四.2.3
    Scopes are compared letter for letter, the empty one included.
  000 四.2.5
    Requests for approval and credentials are between application and framework; no model reads them.
foreign
  000 四.2.4
    Another agent's words become context in the user's role, lest the model take them for its own.
summaries
  000 四.2.6
    A summary takes the place of the first event it stands for.
transcription
  000 四.2.5
    Speech without other content is joined into text: heard as the user's, spoken as the model's.
orphans
  000 四.2.7
    First of six: a response whose call is nowhere in the session is dropped, with a warning.
latest
  000 四.2.7
    A response that ends the history goes back to its call; plain talk between the two is left out.
history
  000 四.2.7
    Then every call gets its responses right behind it, several of them joined into one.
emit
  000 四.2.8
    Empty parts go, and so do ids that the framework made up itself.
additions
  000 四.2.8
    If the model spoke last, a fixed sentence by the user asks it to go on.
  000 四.2.3
    A scoped agent's task is read off the call that opened the scope.
step
  000 三.2
    One step: build a request, ask the model, hand its event up, and only then run its calls. The order decides what
    is stored when something stops early.
"""
"""Stage, seam or pass; below it the sections; below each what it says. `tools_run` is the stage of the calls,
`turn_cut` the pass called turn."""


def sections_of(key: str) -> tuple[Section, ...]:
    """The sections that explain a request processor, a seam or a pass; for what none does, the one on a step."""
    return _sections().get(key) or _sections()["step"]


@cache
def _sections() -> dict[str, tuple[Section, ...]]:
    found: dict[str, list[Section]] = {}
    of: list[Section] = []
    for line in _TABLE.strip().splitlines():
        words = line.split()
        if not line.startswith(" "):
            of = found.setdefault(line, [])
        elif line.startswith("    "):
            last = of.pop()
            of.append(Section(last.article, last.number, " ".join([last.summary, *words]).strip()))
        else:
            of.append(Section(words[0], words[1], ""))
    return {key: tuple(rows) for key, rows in found.items()}
