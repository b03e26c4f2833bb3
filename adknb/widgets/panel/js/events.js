// ---- Events: a table of which only what is in sight exists; filtered and sorted here, also while the kernel is busy

const COLUMNS = { i: "#", time: "Time", author: "Author", branch: "Branch", kind: "Kind", text: "Content", tokens: "Tokens", fate: "In the request" };
const WHOLE_JSON = 200_000; // characters of an event's JSON that are shown

function eventsView(app) {
  const st = app.st, names = Object.keys(COLUMNS);
  let q = "", view = [], sort = ["i", 1], fates = null, got = null;

  // -- what is shown, in which order
  const find = h("input", {
    type: "search", placeholder: "Filter: words, author:user, kind:call", label: "Filter events", oninput: () => set(),
    onkeydown(e) {
      e.stopPropagation();
      if (!/^(ArrowDown|Enter|Escape)$/.test(e.key)) return;
      e.preventDefault();
      if (e.key === "Escape") { find.value = ""; set(); }
      box.focus();
    },
  });
  function set() { q = find.value.toLowerCase(); lay(); box.scrollTop = 0; list.set(view.length); aim(); }
  /** What the words of a filter are looked for in; made when it is first wanted. */
  const words = (e) => (e.words ??= `${e.text} ${e.author} ${e.branch} ${e.names}`.toLowerCase());
  const value = (i, k) => (k === "i" ? i : k === "fate" ? (fates && fates.to[i] >= 0 ? fates.to[i] : Infinity) : st.events[i][k]);
  function lay() {
    const terms = q.split(/\s+/).filter(Boolean).map((t) => [t, /^(author|branch|kind|scope|role):(.*)$/.exec(t)]), [k, way] = sort;
    const fits = (e) => terms.every(([t, m]) => (m ? e[m[1]].toLowerCase().startsWith(m[2]) : words(e).includes(t)));
    view = [];
    for (let i = 0; i < st.events.length; i++) if (!terms.length || fits(st.events[i])) view.push(i);
    if (k !== "i" || way < 0) view.sort((a, b) => { const x = value(a, k), y = value(b, k); return (x < y ? -1 : x > y ? 1 : a - b) * way; });
    box.classList.toggle("no-branch", !st.events.some((e) => e.branch));
    box.classList.toggle("no-tokens", !st.events.some((e) => e.tokens));
    text(n, (view.length < st.events.length ? num(view.length) + " of " : "") + count(st.events.length, "event"));
    put(box, { rowcount: view.length + 1 });
    box.style.setProperty("--ix", Math.max(44, 20 + 7.5 * String(st.events.length).length) + "px");
    heads.forEach((e, j) => put(e, { sort: names[j] !== k ? "none" : way > 0 ? "ascending" : "descending" }));
  }
  function sortBy(k) { sort = [k, sort[0] === k ? -sort[1] : 1]; lay(); list.paint(); }

  // -- the table
  const n = mut({ role: "status" }), box = h("div.grid", { role: "grid", tabindex: "0", label: "Events" });
  const heads = names.map((k) => h("div.c-" + k, { role: "columnheader" }, button("", { tabindex: "-1", onclick: () => sortBy(k) }, COLUMNS[k])));
  box.append(h("div.ghg", { role: "rowgroup" }, h("div.gr.gh", { role: "row" }, heads)));
  const list = virtual(box, 22, row, 24), detail = h("div.det", { tabindex: "0", role: "region", label: "Event as JSON" });
  function fate(i) {
    const f = fates && FATES[fates.letters[i]];
    if (!f) return "";
    const says = fates.to[i] >= 0 ? `${word(f)} → ${fates.to[i]}` : fates.tags[fates.tag[i]] || word(f);
    return h("span.fate.f-" + f, { title: word(f) }, icon(f), h("span", says));
  }
  function row(k) {
    const i = view[k], e = st.events[i], chosen = i === app.ui.ev, later = i >= (app.ui.look ? app.ui.look.events : (st.view.upto ?? Infinity));
    const cell = {
      i: String(i), time: h("span", { title: e.time }, e.time.slice(0, 8)), author: who(app, e.author),
      kind: [icon(e.kind, "k"), h("span", e.kind)], tokens: e.tokens ? num(e.tokens) : "", fate: later ? mut(st.book.recording ? "later" : "not stored yet") : fate(i),
    };
    const attrs = { class: cls(chosen && "sel", later && "later"), role: "row", id: app.id("e" + i), rowindex: k + 2, selected: chosen };
    return h("div.gr", { ...attrs, onclick: () => app.select(i) }, names.map((c) => h("div.c-" + c, { role: "gridcell" }, c in cell ? cell[c] : e[c])));
  }
  box.addEventListener("keydown", (e) => {
    const to = moveBy(e, view.indexOf(app.ui.ev), view.length);
    if (to !== undefined) { taken(e); app.select(view[to]); }
    else if (e.key === "Enter" && e.target === box && !e.shiftKey) { taken(e); app.tab("Contents"); }
  });
  function aim() {
    const k = view.indexOf(app.ui.ev);
    put(box, { activedescendant: k >= 0 ? app.id("e" + app.ui.ev) : null });
    return k;
  }

  // -- one event
  function detailOf(i) {
    detail.classList.toggle("none", i === null || !st.events[i]);
    if (i === null || !st.events[i]) return fill(detail, h("p.mut", "Choose a row to read its event as JSON."));
    const head = h("h4", "#" + i, gap(), jump(app, "Contents", i), app.views.Branches ? jump(app, "Branches", i) : "",
      st.book.recording ? button(".b", { title: "To this event: the request that it answers", onclick: () => { app.lookAt(i); app.tab("Request"); } }, "Request") : "");
    if (got && got.i === i) {
      const whole = JSON.stringify(got.json, null, 2), cut = whole.length > WHOLE_JSON;
      const rest = `${num(whole.length - WHOLE_JSON)} characters more: ${st.book.recording ? "recording" : "dbg"}.events[${i}].to_json() has them all.`;
      return fill(detail, head, h("pre", cut ? whole.slice(0, WHOLE_JSON) : whole), cut && h("p.mut", rest));
    }
    fill(detail, head, h("p.mut", "…"));
    app.send({ type: "row", i });
  }
  return {
    el: h("section", h("div.ctl", find, n), h("div.evb", box, detail)), past: true,
    key: (e) => e.key === "/" && (find.focus(), true),
    draw(what, m) {
      if (what === "fates") { fates = m; list.paint(); }
      if (what === "row") got = m;
      if (what === "absent" && m.to.type === "row") fill(detail.lastChild, "Its JSON was not looked at while there was a kernel.");
      if (/^(view|show|rows)$/.test(what)) { if (what !== "rows") app.send({ type: "fates" }); lay(); list.set(view.length); }
      if (what === "looked") list.paint();
      if (/^(select|show)$/.test(what)) { list.paint(); const k = aim(); if (k >= 0) list.show(k); }
      if (/^(select|show|row)$/.test(what)) detailOf(app.ui.ev);
    },
  };
}
