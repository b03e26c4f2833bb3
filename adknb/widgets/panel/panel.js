// The adknb panel: one anywidget, no build step, no dependency. It draws what the kernel sends and sends wishes back; it decides nothing.
//
// Traits        book   once       commands, stages and passes, each with its sentence
//               view   each stop  what is small: where we are, stages, breakpoints, agents, notes
//               stops, rows       timeline and events, whole when a view opens, then appended by messages (`base`: how many had been sent)
// Messages in   stops rows · assembly fates row page · text problem applied
// Messages out  the commands · until break · assemble fates row page · text check edit unedit · sync

// ---- making elements: children that are strings become text nodes, so text of models, tools and files is never parsed

const ARIA = /^(label|selected|pressed|expanded|checked|level|sort|controls|labelledby|describedby|activedescendant|modal|invalid|keyshortcuts|row\w+|value(min|max|now|text))$/;
/** Sets attributes: on… is a listener, the names in ARIA get their prefix, false and null leave a plain attribute out. */
function put(e, attrs) {
  for (const [k, v] of Object.entries(attrs)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v === null || v === undefined) e.removeAttribute(k);
    else if (ARIA.test(k)) e.setAttribute("aria-" + k, v);
    else if (v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  return e;
}
const fill = (e, ...kids) => { e.replaceChildren(...kids.flat(5).filter((x) => x !== null && x !== undefined && x !== false && x !== "")); return e; };
/** h("div.a.b", {attributes}, children…) */
const make = (ns) => (sel, ...kids) => {
  const [tag, ...names] = sel.split("."), e = ns ? document.createElementNS(ns, tag) : document.createElement(tag);
  const attrs = kids[0] && kids[0].constructor === Object ? kids.shift() : {};
  if (tag === "svg") attrs["aria-hidden"] = "true";
  if (names.length) attrs.class = [...names, attrs.class].filter(Boolean).join(" ");
  return fill(put(e, attrs), kids);
};
const h = make(""), s = make("http://www.w3.org/2000/svg");
const cls = (...xs) => xs.filter(Boolean).join(" ");
const clamp = (x, lo, hi) => Math.max(lo, Math.min(hi, x));
const num = (n) => n.toLocaleString("en");
const count = (n, one) => `${num(n)} ${one}${n === 1 ? "" : "s"}`;
const text = (e, t) => { if (e.textContent !== t) e.textContent = t; };
const mut = (...t) => h("span.mut", ...t);
const gap = () => h("span.gap");
const button = (sel, attrs, ...kids) => h("button" + sel, { type: "button", ...attrs }, ...kids);

const DOT = "M8 11.2a1.4 1.4 0 1 0 0 2.8a1.4 1.4 0 0 0 0-2.8", LINES = "M3 4.5h10M3 8h10", FUNNEL = "M2.5 3.5h11L9.6 8.4v4.4l-3.2-1.4v-3z", JOIN = "M2.5 3.8c4 0 3.6 4.2 6.4 4.2h4.6M2.5 12.2c4 0 3.6-4.2 6.4-4.2M10.8 5.3L13.5 8l-2.7 2.7";
const ICONS = {
  step: "M8 2v6.2M5.4 5.8L8 8.4l2.6-2.6" + DOT, next: "M2.3 9C3.2 4.2 11 2.8 13 7.6M13.6 3.6L13.2 8L9 7.2" + DOT, finish: "M8 8.8V2.4M5.4 5L8 2.4L10.6 5" + DOT,
  resume: "M3.2 3v10M6.5 3.2v9.6L13.6 8z", back: "M13.5 8H5.4M8.6 4.6L5.2 8l3.4 3.4M2.4 3.4v9.2", restart: "M12.8 5.6A5.4 5.4 0 1 0 13.4 9M13.5 2.6v3.4h-3.4", break: "M8 3.2L12.8 8L8 12.8L3.2 8z",
  text: LINES + "M3 11.5h6", thought: "M3 4.5h10M3 8h2m2 0h2m2 0h2M3 11.5h2m2 0h2", call: "M2.5 8h10M9 4.5L12.5 8L9 11.5", response: "M13.5 8h-10M7 4.5L3.5 8L7 11.5", confirm: "M2.8 8.6l3.4 3.4l7-7.4", summary: FUNNEL, speech: "M3 6.8v2.4M6.3 4v8M9.7 5.6v4.8M13 6.8v2.4",
  state: "M6 3C3.4 3 5 7.4 2.8 8C5 8.6 3.4 13 6 13M10 3c2.6 0 1 4.4 3.2 5C11 8.6 12.6 13 10 13",
  kept: "M3 6h10M3 10h10", reworded: "M3 9.6c2.2-.4 2.7-1.8 2.7-4.4H3v2.4h2.6M9 9.6c2.2-.4 2.7-1.8 2.7-4.4H9v2.4h2.6", merged: JOIN, moved: "M2.5 12.4h2c5 0 2.6-8 7-8h1.8M10.6 1.8l2.7 2.6l-2.7 2.6", summarised: FUNNEL, out: "M4 4l8 8M12 4l-8 8", added: "M8 3v10M3 8h10",
  turn: "M2.8 3.5h10.4v7H8.4L5.4 13v-2.5H2.8z", agent: "M8 2.8a2.4 2.4 0 1 0 0 4.8a2.4 2.4 0 0 0 0-4.8M3.2 13.4c.4-5 9.2-5 9.6 0", level: "M8 3.5a4.5 4.5 0 1 0 4.5 4.5", processor: "M4.5 4.5h7v7h-7z", declare: "M4.5 4.5h7v7h-7zM8 6.2v3.6M6.2 8h3.6",
  model: "M8 2.4l4.9 2.8v5.6L8 13.6l-4.9-2.8V5.2z", tool: "M3 13l5.2-5.2M9 4.2a3 3 0 0 1 3.8-1.4L10.9 5l.3 1l1 .3l2-1.9a3 3 0 0 1-4.2 3.8", merge: JOIN, append: "M8 2.5v7.4M5 7.2l3 3l3-3M3 13.2h10", event: "M8 10.2V2.6M5 5.4l3-3l3 3M3 13.2h10", handover: "M2.5 8h9M8 4.5L11.5 8L8 11.5M13.8 3.5v9", over: "M4 3.5h8v9H4zM6.5 8h3", file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3", error: "M8 2.6L14 13H2zM8 6.4v3M8 11v.4", until: "M3 8h7M7 4.5L10.5 8L7 11.5M13 3.5v9", hook: "M5 3v4.8a3 3 0 0 0 6 0V6.5M9 8.4l2-2.2l2 2.2",
  open: "M6 4l4 4l-4 4", warn: "M8 2.6L14 13H2zM8 6.4v3M8 11v.4", note: "M8 2.6a5.4 5.4 0 1 0 0 10.8a5.4 5.4 0 0 0 0-10.8M8 7.2v3.6M8 5v.4", play: "M5 3.2v9.6L12.6 8z", joined: "M1 8h14", alone: "M1 8h4M9 5l5 6M14 5l-5 6", waits: "M1 8h2m3 0h2m3 0h2", pause: "M5.5 3.5v9M10.5 3.5v9",
};
const icon = (name, c = "") => s("svg.i", { class: c, viewBox: "0 0 16 16" }, s("path", { d: ICONS[name] || (/^(before|after|on)_/.test(name) ? ICONS.hook : ICONS.text) }));

const FATES = { k: "kept", r: "reworded", m: "merged", v: "moved", s: "summarised", a: "added", o: "out" };
const word = (f) => (f === "out" ? "left out" : f);

// ---- what has arrived

const named = (names) => (r) => Object.fromEntries(names.split(" ").map((k, i) => [k, r[i]]));
const toEvent = named("turn time author branch scope role kind text calls answers names tokens");
const toStop = named("d kind name note lanes at key noop who stage event first failed");
const toRow = named("a b fate pass to steps tag differs bars of");
const toItem = named("key from role kind text context n calls answers step");
const toStep = named("pass rule go why");
const stores = new WeakMap(); // all views of one model share a store

function storeOf(model) {
  if (stores.has(model)) return stores.get(model);
  const st = { book: model.get("book"), view: model.get("view"), stops: model.get("stops").map(toStop), events: model.get("rows").map(toEvent), subs: new Set() };
  let have = model.get("base"), asked = false;
  const take = {
    stops: (m) => { st.stops = [...st.stops.slice(0, m.at), ...m.rows.map(toStop)]; m.set.forEach(([i, r]) => (st.stops[i] = toStop(r))); },
    rows: (m) => { st.events = [...st.events.slice(0, m.at), ...m.rows.map(toEvent)]; asked = false; },
  };
  const tell = (what, m) => st.subs.forEach((f) => f(what, m));
  /** Messages that were sent before this module was loaded are lost: ask for what is missing. */
  const mend = () => { if (have !== st.view.sent && !asked) { asked = true; model.send({ type: "sync", rows: Math.min(st.events.length, st.view.nrows) }); } };
  model.on("msg:custom", (m) => {
    if (take[m.type]) {
      const length = (m.type === "stops" ? st.stops : st.events).length;
      if (m.at > length || (m.at && !asked && m.sent !== have + 1)) return mend(); // it builds on one that never came: the answer will hold it
      have = m.sent; take[m.type](m);
    }
    tell(m.type, m);
  });
  model.on("change:view", () => {
    const v = (st.view = model.get("view"));
    if (st.stops.length > v.nstops) st.stops.length = v.nstops;
    if (st.events.length > v.nrows) st.events.length = v.nrows;
    mend();
    tell("view");
  });
  stores.set(model, st);
  mend();
  return st;
}

// ---- shared pieces

const taken = (e) => { e.preventDefault(); e.stopPropagation(); };
/** Arrow keys in a list: the new place, or undefined for a key that is not ours. */
const moveBy = (e, k, n) => { const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[e.key]; return d && n ? clamp(k + d, 0, n - 1) : undefined; };
const sideways = (e) => ({ ArrowRight: 1, ArrowLeft: -1, Home: -99, End: 99 })[e.key];
/** Scrolls a row into sight, and no further. */
function reveal(box, y, rowH, head = 0) {
  const low = y + rowH + head - box.clientHeight;
  if (y < box.scrollTop) box.scrollTop = y; else if (low > box.scrollTop) box.scrollTop = low;
}
/** A list of which only the rows in sight exist. */
function virtual(box, rowH, row, head = 0) {
  const inner = h("div.v-in", { role: box.role === "grid" ? "rowgroup" : "presentation" });
  let n = 0;
  const paint = () => {
    const a = clamp(Math.floor(box.scrollTop / rowH) - 8, 0, n), b = clamp(a + Math.ceil((box.clientHeight || 400) / rowH) + 16, 0, n), xs = [];
    for (let k = a; k < b; k++) { xs.push(row(k)); xs[k - a].style.top = k * rowH + "px"; }
    inner.style.height = n * rowH + "px";
    fill(inner, xs);
  };
  box.append(inner);
  box.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(paint).observe(box);
  return { paint, set(m) { n = m; paint(); }, show(k) { reveal(box, k * rowH, rowH, head); paint(); } };
}
/** Buttons in a row with one tab stop; arrows move it. */
function roving(box, pick) {
  const all = () => [...box.querySelectorAll(pick)].filter((b) => b.offsetParent), set = (b) => box.querySelectorAll(pick).forEach((x) => (x.tabIndex = x === b ? 0 : -1));
  put(box, {
    onkeydown(e) { const xs = all(), k = xs.indexOf(e.target), d = sideways(e); if (k >= 0 && d) { taken(e); xs[clamp(k + d, 0, xs.length - 1)].focus(); } },
    onfocusin: (e) => e.target.matches(pick) && set(e.target),
  });
  return () => { const xs = all(); if (!xs.some((b) => !b.tabIndex)) set(xs.find((b) => b.matches("[aria-current], [aria-selected=true]")) || xs[0]); };
}
/** One of a few (a radio group). */
function choice(label, options, now, pick) {
  const take = (v) => { set(v); pick(v); }, xs = options.map(([v, t]) => button("", { role: "radio", onclick: () => take(v), onfocus: () => now !== v && take(v) }, t)), box = h("div.seg", { role: "radiogroup", label }, xs);
  const set = (v) => { now = v; xs.forEach((b, k) => put(b, { checked: options[k][0] === v, tabindex: options[k][0] === v ? 0 : -1 })); };
  roving(box, "button"); set(now);
  return Object.assign(box, { set });
}
/** The marks of a track. Shape says the state; colour only repeats it. */
function station(state, noop, wrote, phase) {
  const c = (name, r) => s("circle." + name, { r });
  return s("svg.st", { class: state, viewBox: "-10 -10 20 20" }, state === "here" ? [c("ring", 8.2), c("core", 5), phase === "before" && s("path.half", { d: "M0-5a5 5 0 0 1 0 10z" })] : noop ? c("dash", 5) : state === "done" ? [c(wrote ? "full" : "hollow", wrote ? 6.5 : 5.5), s("path", { d: "M-2.8.3L-.8 2.4L3-2", class: wrote ? "tick" : "" })] : c("hollow", 3.5));
}
const who = (app, name) => h("span.who", { title: name }, h("i.au.au" + app.author(name)), h("span", name));
const jump = (app, tab, i) => button(".b", { onclick: () => app.select(i, tab) }, tab);
const marked = (app, key) => app.st.view.marks.some((m) => m[0] === key);
const flip = (app, key) => key && app.st.book.breakpoints && app.send({ type: "break", at: key, on: !marked(app, key) });
/** Turns of the run count from 1; those that the session had before it are numbered from the first event. */
const turnNames = (st, a, b) => { const n = (t) => (a > 0 ? t : t - st.events[0].turn + 1), s = a > 0 ? "turn" : "earlier turn"; return a === b ? `${s} ${n(a)}` : `${s}s ${n(a)}–${b > 0 && a <= 0 ? "now" : n(b)}`; };

// ---- toolbar

function toolbar(app) {
  const { commands, breakpoints } = app.st.book, n = h("span.num"), live = h("span.vh", { role: "status" }), crumb = h("ol.crumb", { label: "Where the run stands" }), pop = h("div.pop", { hidden: true, role: "group", label: "Breakpoints" });
  const open = (yes) => { pop.hidden = !yes; put(marks, { expanded: yes }); };
  const marks = button(".cmd", { expanded: "false", title: "Breakpoints", onclick: () => open(pop.hidden) }, icon("break", "bp"), h("span", "Breakpoints"), " ", n);
  const cmds = commands.map(([id, name, key, what]) => button(".cmd." + id, { title: `${what} (${key})`, keyshortcuts: key, onclick: () => app.send({ type: id }) }, icon(id), h("span", name)));
  const bar = h("div.bar", { role: "toolbar", label: "Stepper" }, cmds, breakpoints && h("span.anchor", marks, pop), crumb, button(".cmd.keys", { title: "Keys (?)", label: "Keys", onclick: () => app.help() }, "?"), live), settle = roving(bar, ".cmd");
  bar.addEventListener("keydown", (e) => { if (e.key === "Escape" && !pop.hidden) { taken(e); open(false); marks.focus(); } });
  return { el: bar, draw() {
    const v = app.st.view, a = v.at;
    cmds.forEach((b, k) => {
      const off = v.over && !/^(back|restart)$/.test(commands[k][0]);
      if (off && b === document.activeElement) app.root.focus(); // keys must not fall through to the notebook
      b.disabled = off;
    });
    fill(crumb, a.crumb.map((t) => h("li", t)), h("li", h("b", a.name), a.phase && " " + a.phase), a.stop && h("li.mut", a.stop));
    text(live, [a.say, v.note, v.problem].filter(Boolean).join(" "));
    text(n, v.marks.length ? String(v.marks.length) : "");
    fill(pop, v.marks.map(([, words]) => h("div.li", icon("break", "bp"), h("code.tx", words), gap(), button("", { label: "Remove breakpoint " + words, onclick: () => app.send({ type: "break", words }) }, icon("out")))), h("p.mut", "Press . on a stage of the track or on a stop of the timeline."));
    settle();
  } };
}

// ---- where we are in the Flow

function flow(app) {
  const { stages, processors, breakpoints } = app.st.book, list = h("ol.track"), line = h("div.says"), settle = roving(list, "button");
  let hover = null;
  const point = (k) => { hover = k; tell(); };
  const items = stages.map((g, k) => button(".stop", { onclick: () => { app.ui.stage = k; tell(); }, onfocus: () => { app.ui.stage = k; tell(); }, onmouseenter: () => point(k), onmouseleave: () => point(null) }));
  list.append(...items.map((b) => h("li", b)));
  list.addEventListener("keydown", (e) => {
    const g = stages[app.ui.stage ?? 0];
    if (e.key === ".") { taken(e); flip(app, g.key); } else if (e.key === "Enter" && !app.st.view.over) { taken(e); app.send({ type: "until", at: g.key }); }
  });
  function tell() {
    const v = app.st.view, k = hover ?? app.ui.stage ?? v.here;
    if (k < 0) return fill(line, mut(v.at.say));
    const g = stages[k], t = v.stages[k], yes = marked(app, g.key);
    fill(line, h("span", h("b", g.id), ` ${t.says} `, mut(g.says)), h("code.go.mut", g.go),
      !v.over && button(".tog", { title: "Go on until this stage (Enter)", onclick: () => app.send({ type: "until", at: g.key }) }, icon("until"), h("span", "Run to here")),
      breakpoints && button(".tog", { class: yes && "on", pressed: yes, title: "Breakpoint at this stage (.)", onclick: () => flip(app, g.key) }, icon("break", "bp"), h("span", yes ? "Breakpoint set" : "Break here")));
  }
  return { el: h("nav.flow", { label: "Where we are in the Flow" }, list, line), draw() {
    const v = app.st.view;
    items.forEach((b, k) => {
      const g = stages[k], { state, full, label } = v.stages[k], yes = marked(app, g.key);
      b.parentNode.className = cls(state, g.noop && "noop", k === processors && "first");
      fill(b, h("span.dot", station(state, g.noop, full, v.at.phase), yes && icon("break", "bp")), h("span.nm", g.id.replace("_", " ")));
      put(b, { label: label + (yes ? ", breakpoint" : ""), "aria-current": state === "here" ? "step" : null });
    });
    tell(); settle();
  } };
}

// ---- timeline

function timeline(app) {
  const st = app.st, open = new Set(), box = h("div.tree", { role: "tree", tabindex: "0", label: "Timeline" }), look = h("div.look", { hidden: true }), list = virtual(box, 22, row);
  let vis = [], cur = -1, seen = -1;
  const kids = (i) => st.stops[i + 1] && st.stops[i + 1].d > st.stops[i].d;
  const parent = (i) => { const d = st.stops[i]?.d ?? 0; while (--i >= 0 && st.stops[i].d >= d); return i; };
  const present = () => (st.view.at.row < 0 ? st.stops.length - 1 : Math.min(st.view.at.row, st.stops.length - 1)), unfold = () => { for (let p = parent(present()); p >= 0; p = parent(p)) open.add(p); };
  function lay() {
    let deep = Infinity; // rows deeper than a folded one are out of sight
    vis = [];
    st.stops.forEach((r, i) => { if (r.d > deep) return; vis.push(i); deep = open.has(i) ? Infinity : r.d; });
    list.set(vis.length);
  }
  function lanes(r) {
    const n = Math.max(3, 32 - Math.clz32(r.lanes)), g = s("svg.lanes", { width: n * 8, height: 22 });
    for (let k = 0; k < n; k++) if (r.lanes & (1 << k)) g.append(s("path", { d: `M${k * 8 + 4} 0V22` }));
    g.append(s("circle.au" + app.author(r.who), { cx: r.at * 8 + 4, cy: 11, r: 3.2 }));
    return g;
  }
  function row(k) {
    const i = vis[k], r = st.stops[i], v = st.view, here = i === v.at.row, yes = r.key && marked(app, r.key);
    return h("div.tr.k-" + r.kind, { class: cls(r.noop && "noop", here && "here", r.failed && "failed", k === cur && "cur"), title: r.note && `${r.name}: ${r.note}`, role: "treeitem", id: app.id("t" + i), level: r.d + 1, expanded: kids(i) ? open.has(i) : null, selected: here,
      onclick: (e) => { cur = k; e.target.closest(".bpx") ? r.key && flip(app, r.key) : e.target.closest(".tw") ? fold(i) : pick(i); } },
      h("span.bpx", yes ? icon("break", "bp") : here && icon("play", "arrow")), r.lanes ? lanes(r) : "", h("span", { style: `width:${r.d * 10}px;flex:none` }), h("span.tw", kids(i) && icon("open", open.has(i) ? "on" : "")), icon(r.kind === "step" ? "level" : r.kind, "k"), h("span.nm", r.name), h("span.nt", r.failed ? icon("warn") : "", r.note), h("span.mt", here ? v.at.phase : r.noop ? "no-op" : ""), h("span.vh", r.lanes ? ` lane ${r.at + 1}` : "", yes && " breakpoint"));
  }
  const fold = (i) => { open.delete(i) || open.add(i); lay(); };
  function pick(i) {
    if (st.stops[i].event >= 0) app.select(st.stops[i].event);
    if (kids(i) && st.stops[i].first < 0) fold(i); else aimAt(i);
  }
  /** Offers to go back to a past stop. */
  function aimAt(i) {
    const r = st.stops[i];
    look.hidden = !st.book.rewind || !r || r.first < 0 || i === st.view.at.row;
    if (!look.hidden) fill(look, h("span.tx", `Stop ${r.first}, before ${r.name}`), gap(), button(".b", { onclick: () => { box.focus(); app.send({ type: "rewind", stop: r.first }); } }, "Rewind here"));
  }
  const aim = () => vis[cur] !== undefined && put(box, { activedescendant: app.id("t" + vis[cur]) });
  box.addEventListener("keydown", (e) => {
    const i = vis[cur], to = moveBy(e, cur, vis.length);
    if (to !== undefined) cur = to;
    else if (e.key === "ArrowRight" && kids(i)) open.has(i) ? cur++ : fold(i);
    else if (e.key === "ArrowLeft") open.has(i) && kids(i) ? fold(i) : (cur = Math.max(0, vis.indexOf(parent(i))));
    else if (e.key === "Enter" || e.key === " ") pick(i);
    else if (e.key === "." && st.stops[i].key) flip(app, st.stops[i].key);
    else return;
    taken(e); list.show(cur); aim();
  });
  const foldAll = button(".b", { onclick: () => { open.clear(); unfold(); lay(); } }, "Fold");
  return { el: h("aside.tl", { label: "Timeline", id: app.id("p-Timeline") }, h("h4", "Timeline", gap(), foldAll), box, look), draw() {
    const at = present(), moved = at !== seen;
    if (moved) { unfold(); aimAt(-1); }
    lay(); seen = at;
    if (moved) { cur = vis.indexOf(at); list.show(Math.min(vis.length - 1, cur + 2)); list.show(cur); }
    aim();
  } };
}

// ---- Contents: session events, request contents, ribbons between

const ROW = 20;
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - Math.pow(2 - 2 * t, 3) / 2);
/** What a pass reads of an event. */
const READS = { place: (e) => [e.branch, e.scope && "scope " + e.scope].filter(Boolean).join(" "), speech: (e) => e.kind === "speech" && "spoken", "call ids": (e) => [...e.calls.map((c) => "→" + c), ...e.answers.map((c) => "←" + c)].join(" ") };

function contentsView(app) {
  const st = app.st, P = st.book.passes, LAST = P.length, opened = new Set(), single = new Set(), now = new Map(), cells = new Map();
  let asm = null, left = [], list = [], pass = LAST, pin = null, peeked = null, playing = 0, asked = 0, raf = 0, late = false, geo = {};

  const ask = (viewer) => app.send({ type: "assemble", ask: ++asked, viewer, open: [...opened] }), what = (change) => ask({ ...asm.viewer, ...change });
  const agent = h("select", { label: "Agent", onchange: () => { const { name, branch, scope } = st.view.agents.find((x) => x.name === agent.value); ask({ agent: name, branch, scope }); } });
  const field = (label, key) => h("input", { label: label, spellcheck: "false", placeholder: "empty", list: app.id(key), onchange: (e) => what({ [key]: e.target.value }) });
  const branch = field("Branch", "branch"), scope = field("Isolation scope", "scope"), lists = h("span"), include = choice("include_contents", [["", "default"], ["none", "none"]], "", (v) => what({ include: v })), compact = h("input", { type: "checkbox", onchange: () => what({ compaction: compact.checked }) });
  const off = h("span.off", { role: "status" }), reset = button(".b", { onclick: () => ask(null) }, "Reset"), more = button(".b.more", { expanded: "false", onclick: () => put(more, { expanded: form.classList.toggle("all") }) }, "What if");
  const form = h("div.ctl", { role: "group", label: "What if" }, more, h("label", mut("Agent"), agent), h("label", mut("Branch"), branch), h("label", mut("Scope"), scope), h("div.lb", mut("include_contents"), include), h("label", compact, h("span", "Compaction")), gap(), off, reset, lists);

  const dots = h("ol.track"), track = h("div.slider", { role: "slider", tabindex: "0", label: "Pass of the assembly", valuemin: 0, valuemax: LAST }, dots), play = button(".cmd", { onclick: () => toggle() }), says = h("span");
  const marks = ["Session", ...P.map((p) => p[1])].map((label) => { const d = h("span.dot"), c = h("span.ct"), li = h("li", h("span.stop", d, h("span.nm", label, c))); dots.append(li); return { li, d, c }; });
  const drag = (e) => { const k = marks.findIndex((m) => e.clientX < m.li.getBoundingClientRect().right); stop(); goTo(k < 0 ? LAST : k); };
  put(track, { onpointerdown(e) { track.setPointerCapture(e.pointerId); drag(e); }, onpointermove: (e) => e.buttons && drag(e), onkeydown(e) { const d = sideways(e) || { ArrowUp: 1, ArrowDown: -1 }[e.key]; if (d) { taken(e); stop(); goTo(pass + d); } } });

  const svg = s("svg.ribbons"), gR = s("g"), gA = s("g"), gT = s("g"), box = (c, label) => h("div.col." + c, { role: "listbox", tabindex: "0", label: label });
  const L = box("l", "Session events"), R = box("r", "Request contents"), stage = h("div.stage", svg, L, R), scroll = h("div.scroll", stage);
  const headL = h("div.hd.l"), headR = h("div.hd.r"), none = h("p.empty.mut"), legend = h("div.legend", { role: "group", label: "Fates: press to single out" }), why = h("div.why", { role: "status" });
  const el = h("section.ct", none, form, h("div.passes", track), h("div.says", play, says), h("div.heads", headL, headR), scroll, legend, why);
  svg.append(gR, gA, gT);
  roving(legend, "button");

  function take(m) {
    if (m.ask !== asked) return;
    el.classList.toggle("none", !!m.none);
    fill(none, m.none || "");
    if (m.none) return;
    if (m.error) { el.classList.toggle("none", !asm); return fill(asm ? why : none, h("p.bad", icon("warn"), " The run would stop here: " + m.error)); }
    const fresh = !asm || asm.rows.length !== m.rows.length, v = m.viewer, E = st.events;
    if ((late = m.sizes[0] > E.length)) return; // its events are still on their way
    asm = { ...m, rows: m.rows.map(toRow), items: m.items.map(toItem), steps: m.steps.map(toStep) };
    if (fresh) { now.clear(); cells.clear(); fill(R, ); }
    agent.value = v.agent; branch.value = v.branch; scope.value = v.scope; include.set(v.include || ""); compact.checked = !!v.compaction;
    text(off, m.off < 0 ? "" : m.off ? `What if: ${count(m.off, "fate")} differ` + (m.off === 1 ? "s" : "") : "What if: no fate differs");
    reset.hidden = m.off < 0; form.classList.toggle("other", m.off >= 0);
    fill(gR, ); fill(gT, );
    left = asm.rows.map((u, k) => {
      const e = E[u.a], n = u.b - u.a, glyph = h("span.gl"), ev = h("span.evd"), words = h("span.vh"), point = { onmouseenter: () => peek(u.a), onmouseleave: () => peek(null) };
      const bar = (c, q) => { const y = c === "o" ? 6 : c === "k" ? 0 : 2; return s("rect.f-" + FATES[c], { x: q * 4, y, width: 3, height: 10 - y }); };
      const line = h("div.ev", { role: "option", id: app.id("l" + k), onclick: () => (n > 1 && u.a === app.ui.ev ? unfold(u) : app.select(u.a)), ...point }, h("span.no", String(u.a)),
        n > 1 ? [icon("open", "k"), h("span.tx.cap", turnNames(st, e.turn, E[u.b - 1].turn), mut("  ", count(n, "event"))), s("svg", { width: u.bars.length * 4, height: 10 }, [...u.bars].map(bar))] : [who(app, e.author), icon(e.kind, "k"), h("span.tx", e.text), ev], glyph, words);
      const rib = s("path", { ...point }), edge = s("path"), tag = u.tag && s("text.tag", u.tag);
      gR.append(rib, edge); if (tag) gT.append(tag);
      return { u, e, n, line, ev, glyph, words, rib, edge, tag };
    });
    fill(L, left.map((x) => x.line));
    fill(legend, Object.values(FATES).filter((f) => m.tally[f]).map((f) => button(".fate.f-" + f, { pressed: single.has(f), onclick: (e) => { single.delete(f) || single.add(f); put(e.currentTarget, { pressed: single.has(f) }); paint(true); } }, s("svg.sw", { viewBox: "0 0 22 10" }, s("path.rib.f-" + f, { d: "M0 1H22V9H0z" }), s("path.edge.f-" + f, { d: "M0 1H22M0 9H22" })), icon(f), h("span", word(f)), h("b", num(m.tally[f])))));
    paint(fresh);
  }
  const rowOf = (i) => left.findIndex((x) => i >= x.u.a && i < x.u.b);
  const unfold = (u) => { u.of >= 0 ? opened.delete(u.of) : opened.add(u.a); what({}); };

  /** Brings the picture to the present pass: rows, ribbons, counts; then moves what has moved. */
  function paint(still) {
    if (!asm || !el.isConnected) return;
    measure();
    list = asm.lists[pass].map((k) => asm.items[k]);
    const want = new Map(), target = new Map(), share = [], [, label, does] = P[pass - 1] || ["", "Session", "The events as they are stored, before any pass."], did = pass && asm.marks[pass - 1], reads = (P[pass - 1] || P[2])[3];
    let n = 0;
    list.forEach((x, y) => {
      share[y] = 0;
      x.from.forEach((u) => target.has(u) || target.set(u, [y, share[y]++]));
      let c = cells.get(x.key);
      if (!c) { c = h("div.cn", { role: "option", id: app.id("r" + x.key), onclick: () => choose(c.item), onmouseenter: () => (c.item.from.length ? peek(left[c.item.from[0]].u.a) : tell(c.item)), onmouseleave: () => peek(null) }); cells.set(x.key, c); R.append(c); }
      c.item = x; c.no = n; c.className = cls("cn", x.step >= 0 && "new");
      fill(c, h("span.no", x.n > 1 ? `${n}–${n + x.n - 1}` : String(n)), h("span.ro", x.role || "–"), x.kind ? icon(x.kind, "k") : "", h("span.tx", x.context && mut("For context: "), x.text ?? (/^u/.test(x.key) ? mut(`${turnNames(st, left[x.from[0]].e.turn, st.events[left[x.from[0]].u.b - 1].turn)}, ${count(x.n, "content")}`) : x.from.length ? left[x.from[0]].e.text : "")));
      want.set(x.key, [y * ROW, 1]);
      n += x.n;
    });
    for (const key of cells.keys()) if (!want.has(key)) want.set(key, [(now.get(key) || [0])[0], 0]);
    left.forEach((x, k) => {
      const { u, e, line } = x, t = target.get(k), o = now.get("rib" + k), part = t && (ROW / share[t[0]]) * (x.n > 1 && u.to.length > 1 ? u.to.length / x.n : 1), shown = x.n > 1 || u.pass <= pass ? u.fate : "kept", hot = pass < LAST && u.steps.some((q) => asm.steps[q].pass === pass);
      want.set("rib" + k, t ? [t[0] * ROW + t[1] * part, part, 1] : o ? [o[0], o[1], 0] : [k * ROW, ROW, 0]);
      line.className = cls("ev f-" + shown, shown === "out" && "gone", hot && "hot", u.differs && "diff");
      x.look = cls("f-" + shown, hot && "hot", single.size && !single.has(shown) && "dim");
      text(x.ev, (READS[reads] ? READS[reads](e) : e[reads]) || "–");
      fill(x.glyph, icon(shown));
      text(x.words, x.n > 1 ? ` ${count(u.to.length, "content")}` : ` ${word(u.fate)}${u.to.length ? ", content " + u.to.join(", ") : ""}`);
    });
    stage.style.height = Math.max(left.length, list.length) * ROW + 3 + "px";
    fill(says, h("b", label), " ", mut(does), pass ? ` ${did ? did[1] : "Nothing to do here"}.` : "");
    fill(headL, h("b", "Session"), mut(" " + count(asm.rows[left.length - 1].b, "event")), gap(), h("span.evd", reads));
    fill(headR, h("b", pass < LAST ? "Working list" : asm.sent ? "Request" : "Request, if built now"), mut(` ${count(n, "content")}${pass === LAST ? "" : ` after ${label.toLowerCase()}`}`));
    marks.forEach(({ li, d, c }, k) => {
      const state = k === pass ? "here" : k < pass ? "done" : "next", m = k ? asm.marks[k - 1] : [num(asm.sizes[0])];
      li.className = cls(state, !m && "noop");
      fill(d, station(state, !m, true));
      text(c, m ? " " + m[0] : "");
    });
    put(track, { valuenow: pass, valuetext: `${label}, ${count(n, "content")} in the list` });
    tween(want, still || app.calm());
    mark();
  }
  function measure() {
    const W = scroll.clientWidth || 800, small = W < 520, l = Math.round(W * (small ? 0.4 : 0.46)), r = Math.round(W * (small ? 0.43 : 0.37));
    geo = { W, small, x0: l, x1: W - r, mL: small ? 4 : 26, mR: small ? 8 : 20 };
    for (const [k, v] of [["l", l], ["r", r], ["ml", geo.mL], ["mr", geo.mR], ["no", asm.rows.some((u) => u.bars) ? 46 : 16]]) el.style.setProperty("--" + k, v + "px");
    put(svg, { width: W });
  }
  function tween(want, still) {
    cancelAnimationFrame(raf);
    const from = new Map([...want].map(([k, w]) => [k, now.get(k) || (still || k.startsWith("rib") ? w : [w[0], 0])])), t0 = performance.now();
    for (const k of now.keys()) if (!want.has(k)) now.delete(k);
    const frame = (t) => {
      const p = still ? 1 : ease(clamp((t - t0) / 360, 0, 1));
      for (const [k, w] of want) now.set(k, w.map((x, n) => from.get(k)[n] + (x - from.get(k)[n]) * p));
      draw();
      if (p < 1) raf = requestAnimationFrame(frame);
      else for (const [key, c] of cells) if (!want.get(key)[1]) { c.remove(); cells.delete(key); now.delete(key); }
    };
    frame(t0);
  }
  /** One frame: rows at their heights, ribbons between them, arcs from responses to calls. */
  function draw() {
    const { W, small, x0, x1, mL, mR } = geo, sel = app.ui.ev, arcs = [], half = ROW / 2 + 0.5;
    put(svg, { height: stage.offsetHeight });
    for (const [key, c] of cells) { const [y, o] = now.get(key); c.style.transform = `translateY(${y}px)`; c.style.opacity = o; }
    left.forEach(({ rib, edge, tag }, k) => {
      const [y, part, q] = now.get("rib" + k), a = k * ROW + 2, b = a + ROW - 4, c = (a + b) / 2, tip = x0 + (small ? 14 : 26), X = tip + (x1 - tip) * q, t = c + (y + 1.5 - c) * q, z = c + (y + Math.max(part, 5) - 1.5 - c) * q, m = (x0 + X) / 2;
      const top = `M${x0} ${a}C${m} ${a} ${m} ${t} ${X} ${t}`, low = `C${m} ${z} ${m} ${b} ${x0} ${b}`;
      put(rib, { d: `${top}L${X} ${z}${low}Z` }); put(edge, { d: `${top}M${X} ${z}${low}` });
      if (tag) { put(tag, { x: tip + 5, y: c + 4 }); tag.style.opacity = x1 - x0 < 125 ? 0 : clamp(1 - q * 3, 0, 1); }
    });
    // a late response makes a long arc on the left; on the right all end as tight brackets
    const arc = (x, y, y2, dir, room, lit) => { const d = (Math.min(room, 5 + Math.abs(y2 - y) / 9) * dir * 4) / 3; arcs.push(s("path.arc", { class: lit && "on", d: Math.abs(y2 - y) <= ROW + 1 ? `M${x} ${y}h${4 * dir}V${y2}h${-4 * dir}` : `M${x} ${y}C${x + d} ${y} ${x + d} ${y2} ${x} ${y2}` })); };
    const calls = new Map(), called = new Map(), mine = (x) => x.from.some((k) => left[k].u.a === sel);
    if (!small) left.forEach(({ e, u, n }, k) => {
      if (n > 1) return;
      e.calls.forEach((c) => calls.set(c, k));
      new Set(e.answers).forEach((a) => { const c = calls.get(a), y = k * ROW + half; c === undefined ? arcs.push(s("path.arc.lost", { d: `M${mL - 2} ${y}h-5m-2-3l-4 6m0-6l4 6` })) : arc(mL - 2.5, y, c * ROW + half, -1, mL - 6, sel === u.a || sel === left[c].u.a); });
    });
    list.forEach((x) => x.calls.forEach((c) => called.set(c, x)));
    list.forEach((x) => {
      const [y, o] = now.get(x.key), g = x1 - (small ? 16 : 30) * o, c = y + ROW / 2;
      new Set(x.answers).forEach((a) => { const to = called.get(a); if (to && to !== x) arc(W - mR + 2.5, y + half, now.get(to.key)[0] + half, 1, mR - 6, mine(x) || mine(to)); });
      if (x.step >= 0) arcs.push(s("path.rib.f-added", { d: `M${g} ${c}L${x1} ${y + 2}V${y + ROW - 2}z` }), s("path.edge.f-added", { d: `M${x1} ${y + 2}L${g} ${c}L${x1} ${y + ROW - 2}M${g - 5} ${c}h-8m4-4v8` }));
    });
    fill(gA, arcs);
  }

  function peek(i) { if (!playing) { peeked = i; mark(); } }
  /** Which rows and ribbons are singled out, and the sentences about them. */
  function mark() {
    if (!left.length) return;
    const sk = rowOf(app.ui.ev ?? -1), k = peeked === null ? sk : rowOf(peeked), item = k >= 0 ? list.find((x) => x.from.includes(k)) : pin && list.find((x) => x.key === pin);
    left.forEach((x, n) => {
      const lit = n === k || !!(item && item.from.includes(n)), c = cls(x.look, lit && "on", k >= 0 && !lit && "low");
      put(x.rib, { class: "rib " + c }); put(x.edge, { class: "edge " + c });
      x.line.classList.toggle("rel", lit); x.line.classList.toggle("sel", n === sk); put(x.line, { selected: n === sk });
    });
    for (const [key, c] of cells) { const lit = !!item && item.key === key; c.classList.toggle("rel", lit); c.classList.toggle("sel", lit && peeked === null); put(c, { selected: lit }); if (lit) put(R, { activedescendant: c.id }); }
    if (sk >= 0) put(L, { activedescendant: app.id("l" + sk) });
    marks.forEach(({ li }, n) => li.classList.toggle("mine", k >= 0 && left[k].u.steps.some((q) => asm.steps[q].pass === n)));
    tell(k >= 0 ? left[k] : item);
  }
  function tell(x) {
    const lines = (steps) => steps.map((q) => h("p", mut({ class: "ps" }, P[q.pass - 1][1]), h("span", q.why, " ", h("code.mut.go", q.go), " ", mut({ class: "go" }, q.rule)))), tag = (f) => h("span.fate.f-" + f, icon(f), word(f));
    if (!x) return fill(why, h("p.mut", "Point at an event, or use the arrow keys, to read what became of it and by which rule. [ and ] step through the passes, p plays them."));
    if (!x.u) return fill(why, h("div.w1", tag("added"), "stands for no event of the session", gap(), mut("content " + cells.get(x.key).no)), ...(x.step >= 0 ? lines([asm.steps[x.step]]) : []));
    const { u, e, n } = x;
    fill(why, h("div.w1", n > 1 ? [h("b", `Events ${u.a}–${u.b - 1}`), mut("Enter opens the turn")] : [tag(u.fate), h("b", "#" + u.a), who(app, e.author), mut(e.kind, " ", e.names)], gap(), mut(u.to.length > 2 ? count(u.to.length, "content") : u.to.length ? "content " + u.to.join(", ") : "in no content"), jump(app, "Events", u.a)),
      ...(n > 1 ? [] : u.steps.length ? lines(u.steps.map((q) => asm.steps[q]).slice(-3)) : [h("p", "Kept as it is, where it stood.")]));
  }
  function choose(x) { pin = x.from.length ? null : x.key; app.select(x.from.length ? left[x.from[0]].u.a : null); }
  function goTo(k) { k = clamp(k, 0, LAST); if (k !== pass) { pass = k; paint(); } }
  function stop() { clearInterval(playing); playing = 0; fill(play, icon("play"), h("span", "Play")); }
  function toggle() {
    if (playing) return stop();
    if (pass === LAST) { pass = 0; paint(true); }
    fill(play, icon("pause"), h("span", "Pause"));
    playing = setInterval(() => (pass < LAST && el.isConnected ? goTo(pass + 1) : stop()), app.calm() ? 1600 : 1100);
  }
  stop();
  const walk = (right) => (e) => {
    const k = rowOf(app.ui.ev ?? -1), to = moveBy(e, right ? list.findIndex((x) => (pin ? x.key === pin : x.from.includes(k))) : k, right ? list.length : left.length);
    if (to !== undefined) { right ? choose(list[to]) : app.select(left[to].u.a); reveal(scroll, to * ROW, ROW); }
    else if (e.key === (right ? "ArrowLeft" : "ArrowRight")) (right ? L : R).focus();
    else if (e.key === "Enter" && k >= 0) left[k].n > 1 || left[k].u.of >= 0 ? unfold(left[k].u) : app.tab("Events");
    else return;
    taken(e);
  };
  L.addEventListener("keydown", walk(false)); R.addEventListener("keydown", walk(true));
  new ResizeObserver(() => scroll.clientWidth && scroll.clientWidth !== geo.W && paint(true)).observe(scroll);

  return {
    el, goTo,
    key(e) { if (e.key === "p") toggle(); else if (e.key === "[" || e.key === "]") { stop(); goTo(pass + (e.key === "]" ? 1 : -1)); } else return false; return true; },
    draw(news, m) {
      if (news === "assembly") take(m);
      if (news === "rows" && late) ask(null);
      if (news === "view" || news === "show") {
        const a = st.view.agents, options = (key) => h("datalist", { id: app.id(key) }, [...new Set([...a, ...st.events].map((x) => x[key]))].filter(Boolean).map((x) => h("option", { value: x })));
        fill(agent, a.map((x) => h("option", { value: x.name }, x.name)));
        fill(lists, options("branch"), options("scope"));
        news === "view" || !asm ? ask(null) : paint(true);
      }
      if (asm && left.length && (news === "select" || news === "show")) { mark(); draw(); if (app.ui.ev !== null) reveal(scroll, rowOf(app.ui.ev) * ROW, ROW); }
    },
  };
}

// ---- plain pages: blocks that the kernel also turns into text and static HTML

const SPAN = { i: (app, name) => icon(name), ev: (app, i) => button(".lk", { onclick: () => app.select(i, "Events") }, "#" + i), au: who };
/** Code breaks after punctuation; only what is long breaks anywhere, and even then its end stays in one piece. */
const soft = (t) => t.length > 400 ? t : (t.match(/\s+|[^\s(,=:{[]*[(,=:{[]|[^\s(,=:{[]+/g) || []).flatMap((w) => {
  if (/^[!-~]{1,16}$/.test(w)) return [h("span.nb", w), /[(,=:{[]$/.test(w) && h("wbr")];
  const end = /^(\S{7,})([!-~]{10})$/.exec(w);
  return end ? [end[1], h("span.nb", end[2])] : w;
});
const spans = (app, xs, code) => {
  if (code && xs[xs.length - 1] === ")" && typeof xs[xs.length - 2] === "string") xs = [...xs.slice(0, -2), xs[xs.length - 2] + ")"];
  return xs.map((x) => (typeof x === "string" ? (code ? soft(x) : x) : SPAN[x[0]] ? SPAN[x[0]](app, x[1]) : h(/^(code|b|del|ins)$/.test(x[0]) ? x[0] : /^(mut|th|fn|bad|line|note)$/.test(x[0]) ? "span." + x[0] : "span", spans(app, x[0] === "fn" ? [...x.slice(1, -1), "  ", x[x.length - 1]] : x.slice(1), code || /^(code|fn)$/.test(x[0])))));
};
const BLOCK = {
  h: (app, ...xs) => h("h4", spans(app, xs)),
  p: (app, ...xs) => h("p", spans(app, xs)),
  pre: (app, t) => h("pre", t),
  table: (app, head, rows) => h("table", head && h("thead", h("tr", head.map((c) => (c.length ? h("th", { scope: "col" }, spans(app, c)) : h("td"))))), h("tbody", rows.map((r) => h("tr", r.map((c) => h("td", spans(app, c))))))),
  rows: (app, look, rows) => h("div." + look, rows.map((r) => h("div.rw", { class: r.look }, h("div.by", spans(app, r.by)), h("div.lines", r.text.map((l) => h("div", spans(app, l)))), r.op && h("span.op." + r.op[0], r.op[1])))),
};

function pageView(app, name, more = {}) {
  const body = h("div.page", { tabindex: "0", role: "group", label: name }), el = h("section", body), ask = () => app.send({ type: "page", name, ...more });
  return { el, body, ask, draw(what, m) {
    if (/view|show/.test(what)) ask();
    if (what === "page" && m.name === name) { const top = body.scrollTop; fill(body, m.columns.map((c) => h("div", c.map(([k, ...xs]) => BLOCK[k](app, ...xs))))); body.scrollTop = top; }
  } };
}

// ---- Request: a page, and an editor whose drafts the kernel checks

function requestView(app) {
  const st = app.st, more = { against: "stop" }, page = pageView(app, "Request", more), { body, el } = page, act = (t, f, title) => button(".b", { onclick: f, title }, t), get = (why) => app.send({ type: "text", why });
  let editing = false, wait = 0, stop = null;
  const cmp = h("div.lb", mut("Changes since"), choice("Changes since", [["stop", "last pause"], ["request", "last request"]], more.against, (v) => { more.against = v; page.ask(); })), sum = mut(), flash = mut({ role: "status", class: "flash" });
  const undo = act("Undo edit", () => { edit.focus(); app.send({ type: "unedit" }); }), copy = button(".b.copy", { onclick: () => get("copy") }, "Copy JSON"), edit = act("Edit as JSON", () => get("edit"), "Edit as JSON (e)"), apply = button(".b.pri", { onclick: () => commit() }, "Apply"), commit = () => app.send({ type: "edit", text: area.value, stop });
  const nums = h("div.nums", { "aria-hidden": "true" }), band = h("div.band"), prob = h("div.prob", { id: app.id("prob"), role: "alert" });
  const area = h("textarea", { spellcheck: "false", wrap: "off", label: "Request as JSON", describedby: prob.id,
    oninput() { lines(); clearTimeout(wait); wait = setTimeout(() => app.send({ type: "check", text: area.value }), 250); },
    onscroll() { nums.scrollTop = area.scrollTop; band.style.transform = `translateY(${-area.scrollTop}px)`; },
    onkeydown(e) { e.stopPropagation(); if (e.key === "Escape") { e.preventDefault(); open(false); } if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); commit(); } },
  });
  const ed = h("div.ed", h("div.edb", nums, h("div.eda", band, area)), h("div.edf", prob, gap(), act("Cancel", () => open(false), "Leave without applying (Esc)"), apply));
  const bar = h("div.ctl", cmp, sum, flash, h("div.lb.acts", undo, copy, edit));
  el.prepend(bar); el.append(ed);
  const lines = () => { const n = area.value.split("\n").length; if (nums.childElementCount !== n) fill(nums, Array.from({ length: n }, (_, k) => h("div", String(k + 1)))); };
  function open(yes, t) {
    clearTimeout(wait);
    editing = yes; ed.hidden = !yes; body.hidden = bar.hidden = yes;
    if (!yes) return (edit.disabled ? body : edit).focus();
    area.value = t; lines(); problem({ line: 0 }); area.focus(); area.setSelectionRange(0, 0); area.scrollTop = 0;
  }
  /** The kernel says where a draft is wrong: the line is marked, the field named. */
  function problem({ line, where, message, more }) {
    band.hidden = !line; band.style.top = line * 18 - 12 + "px"; put(area, { invalid: line > 0 }); apply.disabled = line > 0;
    [...nums.children].forEach((x, k) => x.classList.toggle("bad", k === line - 1));
    fill(prob, line ? [icon("warn"), h("b", where), h("span", `line ${line}: ${message}`), more ? mut(`and ${more} more`) : ""] : mut("A draft: the run keeps its request until you apply (Ctrl+Enter). Esc leaves."));
    if (line) reveal(area, (line - 3) * 18, 90);
  }
  ed.hidden = true;
  return { el, key: (e) => e.key === "e" && !editing && !edit.disabled && (get("edit"), true), draw(what, m) {
    const locked = st.view.locked;
    undo.hidden = !st.view.edited; edit.disabled = !!locked; bar.hidden = editing || /being built/.test(locked); edit.title = locked || "Edit as JSON (e)";
    if (what === "view" || what === "show") text(flash, locked && !/over|being built/.test(locked) ? locked : st.view.edited ? "Edited: the run goes on with this request." : "");
    if (what === "applied") { open(false); page.ask(); }
    if (what === "problem") problem(m);
    if (what === "text") { if (m.why === "edit") { stop = m.stop; open(true, m.text); } else navigator.clipboard.writeText(m.text).then(() => text(flash, "Copied."), () => text(flash, "The browser refuses to copy here.")); }
    if (what === "page" && m.name === "Request") text(sum, m.sum || "");
    page.draw(what, m);
  } };
}

// ---- Events: a table of which only what is in sight exists

function eventsView(app) {
  const st = app.st, COLS = { i: "#", time: "Time", author: "Author", branch: "Branch", kind: "Kind", text: "Content", tokens: "Tokens", fate: "In the request" }, names = Object.keys(COLS);
  let q = "", view = [], sort = ["i", 1], F = null, got = null;
  const set = () => { q = find.value.toLowerCase(); lay(); box.scrollTop = 0; list.set(view.length); };
  const find = h("input", { type: "search", placeholder: "Filter: words, author:user, kind:call", label: "Filter events", oninput: set, onkeydown: (e) => { e.stopPropagation(); if (/^(ArrowDown|Enter|Escape)$/.test(e.key)) { e.preventDefault(); if (e.key === "Escape") { find.value = ""; set(); } box.focus(); } } });
  const n = mut({ role: "status" }), box = h("div.grid", { role: "grid", tabindex: "0", label: "Events" }), heads = names.map((k) => h("div.c-" + k, { role: "columnheader" }, button("", { tabindex: "-1", onclick: () => { sort = [k, sort[0] === k ? -sort[1] : 1]; lay(); list.paint(); } }, COLS[k])));
  box.append(h("div.ghg", { role: "rowgroup" }, h("div.gr.gh", { role: "row" }, heads)));
  const list = virtual(box, 22, row, 24), detail = h("div.det", { tabindex: "0", role: "region", label: "Event as JSON" });
  const val = (i, k) => (k === "i" ? i : k === "fate" ? (F && F.to[i] >= 0 ? F.to[i] : 1e9) : st.events[i][k]);
  function lay() {
    const terms = q.split(/\s+/).filter(Boolean).map((t) => [t, /^(author|branch|kind|scope|role):(.*)$/.exec(t)]), [k, d] = sort;
    view = [];
    st.events.forEach((e, i) => { if (terms.every(([t, m]) => (m ? e[m[1]].toLowerCase().startsWith(m[2]) : `${e.text} ${e.author} ${e.branch} ${e.names}`.toLowerCase().includes(t)))) view.push(i); });
    if (k !== "i" || d < 0) view.sort((a, b) => { const x = val(a, k), y = val(b, k); return (x < y ? -1 : x > y ? 1 : a - b) * d; });
    box.classList.toggle("no-branch", !st.events.some((e) => e.branch)); box.classList.toggle("no-tokens", !st.events.some((e) => e.tokens));
    text(n, (view.length < st.events.length ? num(view.length) + " of " : "") + count(st.events.length, "event"));
    put(box, { rowcount: view.length + 1 });
    heads.forEach((e, j) => put(e, { sort: names[j] !== k ? "none" : d > 0 ? "ascending" : "descending" }));
  }
  function row(k) {
    const i = view[k], e = st.events[i], f = F && FATES[F.letters[i]], cell = { i: String(i), author: who(app, e.author), kind: [icon(e.kind, "k"), h("span", e.kind)], tokens: e.tokens && num(e.tokens), fate: f && h("span.fate.f-" + f, { title: word(f) }, icon(f), h("span", F.to[i] >= 0 ? `${word(f)} → ${F.to[i]}` : F.tags[F.tag[i]] || word(f))) };
    return h("div.gr", { class: i === app.ui.ev && "sel", role: "row", id: app.id("e" + i), rowindex: k + 2, selected: i === app.ui.ev, onclick: () => app.select(i) }, names.map((c) => h("div.c-" + c, { role: "gridcell" }, c in cell ? cell[c] || "" : e[c])));
  }
  box.addEventListener("keydown", (e) => { const to = moveBy(e, view.indexOf(app.ui.ev), view.length); if (to !== undefined) { taken(e); app.select(view[to]); } else if (e.key === "Enter" && e.target === box) { taken(e); app.tab("Contents"); } });
  function detailOf(i) {
    if (i === null) fill(detail, h("p.mut", "Choose a row to read its event as JSON."));
    else if (!got || got.i !== i) app.send({ type: "row", i });
    else fill(detail, h("h4", "#" + i, gap(), jump(app, "Contents", i)), h("pre", JSON.stringify(got.json, null, 2)));
  }
  return { el: h("section", h("div.ctl", find, n), h("div.evb", box, detail)), key: (e) => e.key === "/" && (find.focus(), true), draw(what, m) {
    if (what === "fates") { F = m; list.paint(); }
    if (what === "row") got = m;
    if (/view|show|rows/.test(what)) { app.send({ type: "fates" }); lay(); list.set(view.length); }
    if (/select|show/.test(what)) { const k = view.indexOf(app.ui.ev); list.paint(); if (k >= 0) { list.show(k); put(box, { activedescendant: app.id("e" + app.ui.ev) }); } }
    if (/select|show|row$/.test(what)) detailOf(app.ui.ev);
  } };
}

// ---- the panel

const TABS = { Timeline: () => ({ el: h("div"), draw() {} }), Request: requestView, Contents: contentsView, Events: eventsView, State: (app) => pageView(app, "State") };
let panels = 0;

function render({ model, el: host, signal }) {
  const st = storeOf(model), uid = "adk" + ++panels, authors = ["user"], still = matchMedia("(prefers-reduced-motion: reduce)");
  const app = {
    st, ui: { tab: "Request", ev: null, stage: null }, id: (x) => `${uid}-${x}`, send: (m) => model.send(m), calm: () => still.matches, help,
    author(name) { if (!authors.includes(name)) authors.push(name); const k = authors.indexOf(name); return k && ((k - 1) % 7) + 1; },
    select(i, tab) { app.ui.ev = i; tab ? app.tab(tab) : views[app.ui.tab].draw("select"); },
    tab(t) { app.ui.tab = t; frame(); views[t].draw("show"); },
  };
  st.view.agents.forEach((a) => app.author(a.name));
  const bar = toolbar(app), strip = flow(app), tree = timeline(app), views = Object.fromEntries(Object.entries(TABS).map(([t, make]) => [t, make(app)]));
  const tabs = h("div.tabs", { role: "tablist", label: "Views" }, Object.keys(TABS).map((t) => button("", { role: "tab", id: app.id("tab-" + t), controls: app.id(t === "Timeline" ? "p-Timeline" : "view"), onclick: () => app.tab(t), onfocus: () => app.ui.tab !== t && app.tab(t) }, t))), settle = roving(tabs, "button");
  const view = h("div.view", { role: "tabpanel", id: app.id("view") }), note = h("div.note"), wrong = h("div.note.wrong", { role: "alert" }), printed = h("pre.note", { tabindex: "0", label: "Printed by the last command" }), main = h("div.main", tree.el, h("div.work", tabs, note, wrong, printed, view));
  const root = app.root = h("div.adk", { role: "region", label: "adknb: " + st.view.title, tabindex: "-1" }, bar.el, strip.el, main);

  function frame() {
    const t = app.ui.tab, v = st.view;
    for (const b of tabs.children) { const yes = b.id === app.id("tab-" + t); put(b, { selected: yes }); b.tabIndex = yes ? 0 : -1; if (yes) tabs.scrollLeft = b.offsetLeft - 80; }
    main.dataset.tab = t; put(view, { labelledby: app.id("tab-" + t) });
    const held = view.contains(document.activeElement), el = views[t].el; // whoever worked in the old view goes on in the new one
    if (view.firstChild !== el) { fill(view, el); if (held) (el.querySelector("[role=listbox], [role=grid], .page") || root).focus(); }
    note.hidden = !v.note; text(note, v.note); printed.hidden = !v.printed; text(printed, v.printed);
    wrong.hidden = !v.problem; if (wrong.dataset.said !== v.problem) { wrong.dataset.said = v.problem; fill(wrong, icon("warn", "bad"), h("span", v.problem)); }
    settle();
  }
  const focused = () => { const a = root.getRootNode().activeElement; return root.contains(a) ? a : null; };
  const gone = (e) => !root.contains(e) || e.disabled || !e.getClientRects().length;
  /** Whatever had the focus and was taken away or disabled hands it to the panel: keys must not fall through to the notebook. */
  function draw(what, m) {
    const held = focused();
    redraw(what, m);
    if (held && gone(held) && (focused() || held) === held) root.focus({ preventScroll: true });
  }
  function redraw(what, m) {
    if (what === "view") { if (app.ui.ev >= st.events.length) app.ui.ev = null; app.ui.stage = null; bar.draw(); strip.draw(); tree.draw(); frame(); }
    if (what === "stops") tree.draw(); else views[app.ui.tab].draw(what, m);
  }
  function help() {
    const old = document.activeElement, x = button(".b", { onclick: () => { sheet.remove(); old.focus(); if (!focused()) root.focus(); } }, "Close");
    const sheet = h("div.sheet", { role: "dialog", modal: "true", label: "Keys", onkeydown: (e) => { e.stopPropagation(); if (/^(Escape|\?|Tab)$/.test(e.key)) e.preventDefault(); if (/^(Escape|\?)$/.test(e.key)) x.click(); } }, h("h4", "Keys", gap(), x), h("dl.kv", st.book.keys.map(([k, t]) => [h("dt", k.split(" ").map((c) => [h("kbd", c), " "])), h("dd", t)])));
    root.append(sheet); x.focus();
  }
  root.addEventListener("focusout", (e) => e.relatedTarget || setTimeout(() => { const a = root.getRootNode().activeElement; if ((!a || a === document.body) && document.hasFocus() && root.isConnected && gone(e.target)) root.focus({ preventScroll: true }); }));
  root.addEventListener("keydown", (e) => {
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName), c = st.book.commands.find((x) => x[2] === e.key), tab = views[app.ui.tab];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    e.stopPropagation(); // plain keys are ours: the notebook's (d d deletes a cell) must not hear them; Ctrl+S and the like go on
    if (field && e.key !== "Escape") return;
    const named = tabs.children[Number(e.key)];
    if (e.key === "Escape") root.focus();
    else if (c) { if (!e.repeat) app.send({ type: c[0] }); }
    else if (/^[1-9]$/.test(e.key) && named) named.focus();
    else if (e.key === "t") { if (tabs.firstChild.offsetParent) app.tab("Timeline"); tree.el.querySelector("[role=tree]").focus(); }
    else if (e.key === "?") help();
    else if (!tab.key || !tab.key(e)) return;
    taken(e);
  });
  /** The theme is read off the page: the panel's own background says whether it is dark, whatever the host calls it. */
  function theme() {
    if (!root.isConnected) return; // hosts may draw first and attach later
    const c = document.createElement("canvas").getContext("2d"), d = document.body;
    c.fillStyle = getComputedStyle(root).backgroundColor; c.fillRect(0, 0, 1, 1);
    const [r, g, b] = c.getImageData(0, 0, 1, 1).data;
    root.dataset.theme = 0.21 * r + 0.72 * g + 0.07 * b < 110 ? "dark" : "light";
    root.toggleAttribute("data-hc", /contrast/i.test(`${d.dataset.jpThemeName} ${d.className}`) || matchMedia("(prefers-contrast: more)").matches);
  }
  const watch = new MutationObserver(theme);
  watch.observe(document.body, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-name"] });
  new ResizeObserver(() => { theme(); if (app.ui.tab === "Timeline" && !tabs.firstChild.offsetParent) app.tab("Request"); }).observe(root);
  st.subs.add(draw);
  signal?.addEventListener("abort", () => { st.subs.delete(draw); watch.disconnect(); });
  host.append(root);
  theme(); draw("view");
  root.panel = { app, views }; // for tests
}
export default { render };
