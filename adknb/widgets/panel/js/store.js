// ---- what has arrived, and whether anybody answers
//
// All views of one model share a store; an answer goes to the view that has asked. While a kernel answers, questions go
// to it and its answers are kept by question; when none does (it was shut down, the notebook was opened again, this is an
// exported file) they are answered from those.

const named = (names) => (row) => Object.fromEntries(names.split(" ").map((name, i) => [name, row[i]]));
const toEvent = named("turn time author branch scope role kind text calls answers names tokens");
const toStop = named("d kind name note lanes at key noop who stage event first failed last tokens seconds");
const toRow = named("a b fate pass to steps tag differs bars of");
const toItem = named("key from role kind text context n calls answers step");
const toStep = named("pass rule go why file");

const stores = new WeakMap();
const SILENCE = 2500, GIVE_UP = 6000; // ms without an answer
const KEPT = 60, LARGE = 400_000, ALL = 1_500_000; // answers kept, how long one may be, and all of them

const LAST_HEARD = "this is the last that the panel heard of the run.";

/** A question without what changes from one asking to the next. */
function questionOf(message) {
  const sorted = (x) => (x && x.constructor === Object ? Object.keys(x).filter((k) => x[k] !== undefined).sort().map((k) => [k, sorted(x[k])]) : x);
  const { re, ask, have, anew, ...rest } = message;
  return JSON.stringify(sorted(rest));
}

function storeOf(model) {
  if (stores.has(model)) return stores.get(model);
  const stops = model.get("stops") || [], rows = model.get("rows") || [];
  const st = {
    book: model.get("book"), view: model.get("view"), stops: stops.map(toStop), events: rows.map(toEvent), subs: new Set(),
    file: model.get("file") || null, // answers instead of a kernel: this is an exported file (file.js)
    silent: "", // why nobody answers, in a sentence
    busy: null, // a command that takes long: { what, seconds, stops, at }
    kept: model.get("kept") || {},
    send,
  };
  const tell = (what, m, to) => (to ? to(what, m) : st.subs.forEach((f) => f(what, m)));

  // -- stops and rows: whole when a view opens, then what is new
  let have = model.get("base") || 0, asked = false;
  // The arrays of the model grow along: if the notebook is saved with its widgets, it is saved as it stands.
  const grow = (raw, m) => { raw.length = Math.min(raw.length, m.at); for (const row of m.rows) raw.push(row); };
  const take = {
    stops(m) {
      grow(stops, m);
      st.stops = [...st.stops.slice(0, m.at), ...m.rows.map(toStop)];
      m.set.forEach(([i, row]) => { stops[i] = row; st.stops[i] = toStop(row); });
    },
    rows(m) {
      grow(rows, m);
      st.events = [...st.events.slice(0, m.at), ...m.rows.map(toEvent)];
      asked = false;
    },
  };
  /** Messages that were sent before this module was loaded are lost: ask for what is missing. */
  function mend() {
    if (have === st.view.sent || asked || st.file) return;
    asked = true;
    send({ type: "sync", rows: Math.min(st.events.length, st.view.nrows) });
  }

  // -- questions and answers
  // Messages go to every page that shows the notebook, and there may be two: marks are this page's own.
  const page = Math.random().toString(36).slice(2, 8);
  let mark = 0, since = 0, timer = 0, everHeard = false;
  const lengths = {}, open = new Map(); // of answers · mark of a question -> the question and who has asked it
  /** `from` is the view (its function in `subs`) that the answer is for. */
  function send(message, from) {
    if (st.silent || st.file) return fromKept(message, from);
    const re = `${page}-${++mark}`;
    open.set(re, { message, from });
    if (open.size > 200) open.delete(open.keys().next().value);
    if (!since) since = Date.now();
    timer ||= setInterval(listen, 500);
    post({ ...message, re });
    if (!everHeard && st.kept[questionOf(message)]) fromKept(message, from); // of a saved notebook, until the kernel answers
  }
  /** Where the comm is closed some front ends throw: nobody answers then, which is told in its time. */
  function post(message) {
    try { model.send(message); } catch (error) { console.debug("adknb: not sent", error); }
  }
  function fromKept(message, from) {
    const answer = st.file ? st.file(message) : st.kept[questionOf(message)];
    setTimeout(() => (answer ? tell(answer.type, { ...answer, ask: message.ask }, from) : tell("absent", { to: message }, from)));
  }
  function keep(question, m) {
    if (m.same || /^(problem|text|form|applied)$/.test(m.type)) return;
    const { re, ...answer } = m, key = questionOf(question), length = JSON.stringify(answer).length;
    if (length > LARGE) return;
    delete st.kept[key]; // the newest stands last
    st.kept[key] = answer;
    lengths[key] = length;
    const keys = Object.keys(st.kept);
    let all = keys.reduce((sum, k) => sum + (lengths[k] ||= JSON.stringify(st.kept[k]).length), 0);
    for (let k = 0; keys.length - k > KEPT || all > ALL; k++) { all -= lengths[keys[k]]; delete st.kept[keys[k]]; }
  }

  // -- is anybody there?
  const ping = () => post({ type: "ping" });
  function listen() {
    const waited = since ? Date.now() - since : 0;
    if (!since) { clearInterval(timer); timer = 0; return; }
    if (waited > SILENCE && Math.round(waited / 500) % 6 === 0) ping(); // every three seconds
    if (waited > GIVE_UP) say(whyNobodyAnswers());
  }
  function say(why) {
    if (st.silent === why) return;
    st.silent = why;
    tell("silent");
  }
  function whyNobodyAnswers() {
    const manager = model.widget_manager, kernel = manager && manager.kernel;
    if (manager && "kernel" in manager) { // JupyterLab tells
      const { status, connectionStatus } = kernel || { status: "dead" };
      if (/dead|terminating/.test(status)) return "There is no kernel any more: " + LAST_HEARD;
      if (/restarting|unknown/.test(status) || connectionStatus === "disconnected") return "The kernel cannot be reached: " + LAST_HEARD;
      if (status === "busy") return "The kernel is busy with something else: the panel goes on when it answers.";
      return `This run is gone, its kernel was restarted: ${LAST_HEARD} Run the cell again for a new one.`;
    }
    return "The kernel does not answer, it is busy, or gone: " + LAST_HEARD;
  }
  function heard() {
    since = 0;
    everHeard = true;
    if (!st.silent) return;
    say("");
    mend();
  }

  model.on("msg:custom", (m) => {
    heard();
    if (m.type === "busy") st.busy = { ...m, seen: Date.now() };
    if (m.type === "idle") st.busy = null;
    if (take[m.type]) {
      const length = (m.type === "stops" ? st.stops : st.events).length;
      // it builds on one that never came: the answer to `sync` will hold it
      if (m.at > length || (m.at && !asked && m.sent !== have + 1)) return mend();
      have = m.sent;
      model.set("base", have); // for a saved notebook
      take[m.type](m);
    }
    if (m.re === undefined || m.re === null) return tell(m.type, m);
    const question = open.get(m.re);
    if (!question) return; // another page's
    keep(question.message, m);
    tell(m.type, m, question.from);
  });
  const changed = savedWithTheNotebook(model);
  model.on("change:view", () => {
    heard();
    changed();
    const v = (st.view = model.get("view"));
    st.busy = null;
    if (st.stops.length > v.nstops) st.stops.length = stops.length = v.nstops;
    if (st.events.length > v.nrows) st.events.length = rows.length = v.nrows;
    mend();
    tell("view");
  });
  model.on("comm_live_update", () => { since ||= Date.now() - SILENCE; timer ||= setInterval(listen, 500); ping(); });
  stores.set(model, st);
  mend();
  return st;
}

// -- what is saved with the notebook

const STATE = "application/vnd.jupyter.widget-state+json", VIEW = "application/vnd.jupyter.widget-view+json";
/**
 * JupyterLab saves no widget unless a setting says so, and then shows an error where one was. A notebook that shows a
 * panel is saved with it (and with what it is shown in), so that it opens as it was left. Gives what to call on a change.
 */
function savedWithTheNotebook(model) {
  const manager = model.widget_manager, context = manager && manager.context, id = "_anywidget_id", own = model.get(id);
  if (!context || !context.saveState || !context.model || !context.model.setMetadata || !manager.get_state_sync) return () => {};
  const save = () => {
    const all = manager.get_state_sync({ drop_defaults: true }).state, kept = new Set();
    const reach = (k, seen = new Set()) => {
      if (!all[k] || seen.has(k)) return seen;
      seen.add(k);
      for (const [, to] of JSON.stringify(all[k].state).matchAll(/"(?:IPY_MODEL_|model_id":")(\w+)"/g)) reach(to, seen);
      return seen;
    };
    for (const cell of context.model.cells) for (const { data } of (cell.outputs ? cell.outputs.toJSON() : [])) {
      const seen = [...reach(data && data[VIEW] && data[VIEW].model_id)];
      if (seen.some((k) => all[k].state[id] === own)) seen.forEach((k) => kept.add(k));
    }
    const before = context.model.getMetadata("widgets"), known = (before && before[STATE] && before[STATE].state) || {};
    const state = Object.fromEntries(Object.entries({ ...known, ...all }).filter(([k, { state: x }]) => kept.has(k) || (known[k] && x[id] !== own)));
    if (kept.size || before) context.model.setMetadata("widgets", { ...before, [STATE]: { version_major: 2, version_minor: 0, state } });
  };
  if (!context.adknb) { // once for all panels of a notebook
    context.adknb = true;
    context.saveState.connect((_, at) => { if (at === "started") try { save(); } catch (error) { console.debug("adknb: not saved", error); } });
  }
  return () => { context.model.dirty = true; };
}
