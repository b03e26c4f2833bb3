// ---- timeline: turn → agent → step → stop, as a tree of which only the rows in sight exist

const TREE_ROW = 22;

function timeline(app) {
  const st = app.st, open = new Set();
  const box = h("div.tree", { role: "tree", tabindex: "0", label: "Timeline" }), list = virtual(box, TREE_ROW, row);
  const lanesBar = h("div.choose", { hidden: true, role: "group", label: "Which lane goes next" });
  let vis = [], cur = -1, seen = -1;

  // -- the tree
  const kids = (i) => st.stops[i + 1] && st.stops[i + 1].d > st.stops[i].d;
  const parent = (i) => { const d = st.stops[i]?.d ?? 0; while (--i >= 0 && st.stops[i].d >= d); return i; };
  const present = () => (st.view.at.row < 0 ? st.stops.length - 1 : Math.min(st.view.at.row, st.stops.length - 1));
  const unfold = (i) => { for (let p = parent(i); p >= 0; p = parent(p)) open.add(p); };
  function lay() {
    let deep = Infinity; // rows deeper than a folded one are out of sight
    vis = [];
    for (let i = 0; i < st.stops.length; i++) {
      const d = st.stops[i].d;
      if (d > deep) continue;
      vis.push(i);
      deep = open.has(i) ? Infinity : d;
    }
    list.set(vis.length);
  }
  const fold = (i) => { open.delete(i) || open.add(i); lay(); };

  // -- a row
  const lanesOf = (r) => (r.lanes ? Math.max(3, 32 - Math.clz32(r.lanes)) : 0);
  function lanes(r) {
    const n = lanesOf(r), g = s("svg.lanes", { width: n * 8, height: TREE_ROW });
    for (let k = 0; k < n; k++) if (r.lanes & (1 << k)) g.append(s("path", { d: `M${k * 8 + 4} 0V${TREE_ROW}` }));
    g.append(s("circle.au" + app.author(r.who), { cx: r.at * 8 + 4, cy: 11, r: 3.2 }));
    return g;
  }
  const short = (n) => (n < 10_000 ? num(n) : num(Math.round(n / 1000)) + "k");
  const cost = (r) => [r.seconds >= 0.1 && r.seconds.toFixed(1) + " s", r.tokens && short(r.tokens) + " tok"].filter(Boolean).join(" · ");
  function row(k) {
    const i = vis[k], r = st.stops[i], v = st.view, here = i === v.at.row, looked = i === lookedRow();
    const yes = r.key && marked(app, r.key), heading = r.first < 0, end = here ? v.at.phase : looked ? app.ui.look.phase : r.noop ? "no-op" : cost(r);
    const look = cls(r.noop && "noop", here && "here", looked && "looked", r.failed && "failed", k === cur && "cur");
    const attrs = {
      class: look, role: "treeitem", id: app.id("t" + i), level: r.d + 1, expanded: kids(i) ? open.has(i) : null, selected: here,
      title: [r.note && `${r.name}: ${r.note}`, cost(r)].filter(Boolean).join("\n") || null,
      onclick(e) { cur = k; e.target.closest(".bpx") && !heading ? flip(app, r.key) : e.target.closest(".tw") ? fold(i) : pick(i); },
    };
    return h("div.tr.k-" + r.kind, attrs,
      h("span.bpx", { title: r.key && st.book.breakpoints ? "Breakpoint (.)" : null },
        yes ? icon("break", "bp") : here ? icon("play", "arrow") : looked && icon("eye", "arrow")),
      r.lanes ? lanes(r) : "", h("span.ind", { style: `width:${Math.max(2, r.d * 10 - (r.lanes ? lanesOf(r) * 8 + 4 : 0))}px` }), h("span.tw", kids(i) && icon("open", open.has(i) ? "on" : "")),
      icon(r.kind === "step" ? "level" : r.kind, "k"), h("span.nm", r.name), h("span.nt", r.failed ? icon("warn") : "", r.note),
      h("span.mt", end), h("span.vh", r.lanes ? ` lane ${r.at + 1}` : "", yes && " breakpoint", looked && " looked at"));
  }

  // -- choosing a stop
  const lookedRow = () => {
    const at = app.ui.look ? app.ui.look.stop : -1;
    if (at < 0) return -1;
    let found = -1; // the last row that begins no later and has not ended before
    st.stops.forEach((r, i) => { if (r.first >= 0 && r.first <= at && (r.last >= at || found < 0)) found = i; });
    return found;
  };
  /** The stop of a row that one wants to see: behind a stage, to see what it did; else before the call. */
  const stopOf = (r) => (/processor|declare/.test(r.kind) ? r.last : r.first);
  function pick(i) {
    const r = st.stops[i];
    if (r.event >= 0) app.select(r.event);
    if (r.first < 0) { if (kids(i)) fold(i); return; }
    app.lookAt(i === st.view.at.row ? null : stopOf(r));
  }
  const aim = () => { const id = app.id("t" + vis[cur]); put(box, { activedescendant: box.querySelector("#" + CSS.escape(id)) ? id : null }); };
  box.addEventListener("keydown", (e) => {
    const i = vis[cur], to = moveBy(e, cur, vis.length);
    if (to !== undefined) cur = to;
    else if (i === undefined) return;
    else if (e.key === "ArrowRight" && kids(i)) open.has(i) ? cur++ : fold(i);
    else if (e.key === "ArrowLeft") open.has(i) && kids(i) ? fold(i) : (cur = Math.max(0, vis.indexOf(parent(i))));
    else if ((e.key === "Enter" && !e.shiftKey) || e.key === " ") pick(i);
    else if (e.key === "." && st.stops[i].key) flip(app, st.stops[i].key);
    else return;
    taken(e); list.show(cur); aim();
  });
  const foldAll = button(".b", { title: "Fold all but what leads to the present stop", onclick: () => { open.clear(); show(present()); } }, "Fold");

  function drawLanes() {
    const names = st.view.lanes || [];
    lanesBar.hidden = names.length < 2 || !!st.silent;
    if (!lanesBar.hidden) fill(lanesBar, mut("Next goes"), names.map((lane) => button(".b", { onclick: () => app.send({ type: "choose", lane }) }, lane)));
  }
  /** Brings a row into sight, wherever the tree is folded. */
  function show(i) {
    if (i < 0) return;
    unfold(i); lay();
    cur = vis.indexOf(i);
    list.show(Math.min(vis.length - 1, cur + 2)); list.show(cur);
    aim();
  }
  return {
    el: h("aside.tl", { label: "Timeline", id: app.id("p-Timeline") }, h("h4", "Timeline", gap(), foldAll), box, lanesBar),
    draw() {
      const at = present(), moved = at !== seen;
      if (moved) unfold(at);
      lay(); drawLanes(); seen = at;
      if (moved) show(at);
      aim();
    },
    reveal: () => show(present()),
    looked() { const i = lookedRow(); if (i >= 0) show(i); else list.paint(); },
  };
}
