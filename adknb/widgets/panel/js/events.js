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
