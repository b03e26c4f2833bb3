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
