// ---- Branches: who sees what. Agents × events; only the columns (or rows) in sight exist
//
// A row's cells are letters, what each means stands in the message. A cell's own reasons are asked for when it is aimed at.

const toAgent = named("name depth mode branch scope cells problem");
const unpack = (text) => text.replace(/(\D)(\d+)/g, (_, letter, n) => letter.repeat(Number(n)));
const sharedBy = (a, b) => { let k = 0; while (k < a.length && k < b.length && a[k] === b[k]) k++; return k; };

function branchesView(app) {
  const st = app.st, H = 22, HEAD = 54, TALL = 92;
  let M = null, agents = [], cols = [], turned = null, T = false, cur = [0, 0], seen = [0, 0], side = 190, wide = 20, line = 46, view = [800, 400], exact = null, wait = 0, version = -1, mapW = 600, pos = 0;

  const orient = choice("Rows", [[false, "Agents as rows"], [true, "Events as rows"]], false, (v) => { turned = v; lay(); });
  const only = h("input", { type: "checkbox", onchange: () => lay() }), note = mut({ role: "status" });
  const map = h("canvas.map", { "aria-hidden": "true" }), track = h("div.mapbox", map, h("div.win"));
  const grid = h("div.mx", { role: "grid", tabindex: "0", label: "Agents and events: who sees what" });
  const legend = h("div.legend"), why = h("div.why.two", { role: "status" }), none = h("p.empty.mut");
  const el = h("section.br", none, h("div.ctl", orient, h("label", only, h("span", "Only where agents differ")), gap(), note), track, grid, legend, why);

  const look = (letter) => M.looks[letter] || ["unknown", "not known yet", false, ""];
  const sees = (a, i) => look(agents[a].cells[i])[2];
  const swatch = (letter, c, words) => h("span.key", h("span.cell." + look(letter)[0], { class: c, "aria-hidden": "true" }), h("span", words || look(letter)[1]));
  const inner = h("div.mxin"), top = h("div.mr.top", { role: "row" });
  grid.append(top, inner);

  // -- what there is
  function take(m) {
    if (m.rows) {
      version = m.v;
      M = m; agents = m.rows.map(toAgent).map((a) => ({ ...a, cells: unpack(a.cells) }));
      if (m.more) app.send({ type: "matrix" });
    }
    if (!M) return;
    const end = cur[1] >= cols.length - 1;
    lay();
    if (m.rows && end) aim(cur[0], cols.length - 1, true);
  }
  function lay() {
    if (!M || !el.isConnected) return;
    const nothing = !agents.length ? "There is no LLM agent in this tree." : !M.n ? "No event is stored yet: there is nothing to see." : "";
    el.classList.toggle("none", !!nothing);
    text(none, nothing);
    if (nothing) return;
    const n = Math.min(M.n, st.events.length), ready = agents.filter((a) => a.cells), differ = (i) => new Set(ready.map((a) => look(a.cells[i])[2])).size > 1;
    cols = [];
    for (let i = 0; i < n; i++) if (!only.checked || differ(i)) cols.push(i);
    const W = grid.clientWidth || 800;
    view = [W, grid.clientHeight || 400];
    T = turned ?? W < 560;
    orient.set(T);
    side = T ? Math.max(120, W - 32 * agents.length - 20) : W < 900 ? 150 : 200;
    side = Math.min(side, Math.round(W * 0.6));
    wide = T ? 32 : clamp(Math.floor((W - side - 16) / Math.max(1, cols.length)), 18, 30);
    line = clamp(Math.floor((grid.clientHeight - HEAD - 12) / agents.length), 38, 54);
    grid.classList.toggle("T", T);
    for (const [k, v] of [["side", side], ["wide", wide], ["line", T ? H : line], ["head", T ? TALL : HEAD]]) grid.style.setProperty("--" + k, v + "px");
    top.style.width = T ? "" : Math.max(side + wide * cols.length, W - 16) + "px";
    inner.style.width = T ? side + wide * agents.length + "px" : side + wide * cols.length + "px";
    inner.style.height = T ? H * cols.length + "px" : line * agents.length + "px";
    put(grid, { rowcount: (T ? cols.length : agents.length) + 1, "aria-colcount": (T ? agents.length : cols.length) + 1 });
    const looks = new Map();
    agents.forEach((a) => { for (const letter of new Set(a.cells)) looks.set(look(letter)[0], letter); });
    fill(legend, Object.keys(M.looks).filter((letter) => looks.get(look(letter)[0]) === letter).map((letter) => swatch(letter, "", look(letter)[0] === "excluded" && "excluded by a rule")));
    text(note, (cols.length < n ? num(cols.length) + " of " : "") + count(n, "event") + (M.more ? ", reading …" : ""));
    cur = [clamp(cur[0], 0, agents.length - 1), clamp(cols.includes(app.ui.ev) ? cols.indexOf(app.ui.ev) : cur[1], 0, Math.max(0, cols.length - 1))];
    paint();
    tell();
  }

  // -- drawing what is in sight
  const turnOf = (c) => st.events[cols[c]].turn;
  const begins = (c) => c > 0 && turnOf(c) !== turnOf(c - 1);
  const ends = (c) => { let k = c + 1; while (k < cols.length && k < c + 12 && !begins(k)) k++; return k; };
  function window_() {
    pos = grid.scrollLeft; // read before anything is drawn: reading later lays the page out twice
    const from = T ? grid.scrollTop / H : pos / wide, room = T ? (view[1] - TALL) / H : (view[0] - side) / wide;
    return [clamp(Math.floor(from) - 6, 0, cols.length), clamp(Math.ceil(from + room) + 6, 0, cols.length)];
  }
  const live = new Map(); // column -> what is drawn of it: its head and cells, or its row
  let lines = [];
  /** All anew: the data, the orientation or a size has changed. */
  function paint() {
    live.clear(); lines = [];
    if (!cols.length) { fill(top, corner()); return fill(inner, h("p.mut.pad", "All agents see the same of this session.")); }
    if (T) { fill(top, corner(), agents.map((_, k) => agentHead(k))); fill(inner, ); } else {
      lines = agents.map((_, k) => place(h("div.mr", { role: "row", rowindex: k + 2 }, agentHead(k)), 0, k * line));
      fill(top, corner()); fill(inner, lines);
    }
    see();
    drawMap();
  }
  /** Draws the columns that have come into sight, takes away those that have left it. */
  function see() {
    const [a, b] = (seen = window_());
    for (const [c, es] of live) if (c < a || c >= b) { es.forEach((e) => e.remove()); live.delete(c); }
    for (let c = a; c < b; c++) {
      if (live.has(c)) continue;
      if (T) { const row = place(h("div.mr", { role: "row", rowindex: c + 2, class: begins(c) && "t0" }, eventHead(c), agents.map((_, k) => cell(k, c))), 0, c * H); inner.append(row); live.set(c, [row]); } else {
        const head = place(eventHead(c), side + c * wide), own = agents.map((_, k) => place(cell(k, c), side + c * wide));
        top.append(head); own.forEach((e, k) => lines[k].append(e));
        live.set(c, [head, ...own]);
      }
    }
    mark();
    moveWindow();
  }
  const place = (e, x, y) => { e.style.left = x + "px"; if (y !== undefined) e.style.top = y + "px"; return e; };
  const corner = () => h("div.co", { role: "columnheader" }, T ? "Event, its branch" : "Agent, its branch");
  function cell(a, c) {
    const i = cols[c], A = agents[a], letter = A.cells[i], [name, words] = letter ? look(letter) : ["wait", "not read yet"];
    return h("div.cell." + name, { class: cls("au" + app.author(A.name), begins(c) && "t0"), role: "gridcell", id: app.id(`m${a}-${c}`), "aria-colindex": (T ? a : c) + 2,
      label: `${A.name}, event ${i} by ${st.events[i].author}: ${words}`, "data-a": a, "data-c": c });
  }
  function agentHead(a) {
    const A = agents[a], n = [...A.cells].filter((letter) => look(letter)[2]).length, str = h("code.str");
    const e = h("div.ah", { role: T ? "columnheader" : "rowheader", style: `--d:${A.depth}`, title: A.problem || null }, h("span.an", who(app, A.name), !T && A.mode && A.mode !== "chat" && mut({ class: "md" }, A.mode.replace("_", " ")), !T && A.problem && icon("warn", "bad"), !T && gap(), !T && A.cells && mut({ class: "su" }, `${num(n)} of ${num(A.cells.length)}`)), !T && h("span.pl", { class: A.branch ? "" : "nowhere" }, str, A.scope && mut("scope " + A.scope)));
    e.paint = (theirs, letter) => measured(str, A.branch, theirs, letter);
    e.row = a;
    return e;
  }
  function eventHead(c) {
    const i = cols[c], e = st.events[i], str = h("code.str"), few = wide < 24 && i > 99 && i % 5;
    const head = h("div.eh", { role: T ? "rowheader" : "columnheader", class: begins(c) && "t0", label: `event ${i}, ${e.author}, ${e.kind}`, title: `#${i} ${e.author}: ${e.text}`, "data-c": c },
      !T && (c === 0 || begins(c)) ? h("span.tn", { style: `max-width:${(ends(c) - c) * wide - 5}px` }, turnNames(st, e.turn, e.turn)) : "", h("span.no", !T && few ? "" : String(i)), T ? who(app, e.author) : h("i.au.au" + app.author(e.author)), icon(e.kind, "k"), T && str);
    head.paint = (mine, letter) => measured(str, e.branch, mine, letter);
    head.col = c;
    return head;
  }
  /** A branch beside another: what they share underlined; where the rule fails, the first other character boxed. */
  function measured(e, mine, theirs, letter) {
    const n = sharedBy(mine, theirs), fails = letter === "b";
    fill(e, mine ? [h("span.eq", { class: fails && "un" }, mine.slice(0, n)), fails && mine[n] ? h("span.ne", mine[n]) : "", mine.slice(fails ? n + 1 : n)] : mut("no branch"));
  }

  // -- aiming
  let over = null;
  const at = () => over || cur;
  function hover(a, c) { over = a === undefined ? null : [a, c]; mark(); tell(); }
  let marked_ = [];
  function mark() {
    const [a, c] = at(), i = cols[c], e = st.events[i], A = agents[a];
    if (!e || !A) return;
    for (const x of grid.querySelectorAll(".ah")) { x.classList.toggle("x", x.row === a); if (!T) x.paint(e.branch, agents[x.row].cells[i]); }
    for (const [k, es] of live) { const head = T ? es[0].firstChild : es[0]; head.classList.toggle("x", k === c); if (T) { es[0].classList.toggle("x", k === c); head.paint(A.branch, A.cells[cols[k]]); } }
    lines.forEach((x, k) => x.classList.toggle("x", k === a));
    marked_.forEach((x) => x.classList.remove("on", "cx"));
    const now = live.get(c);
    marked_ = now ? (T ? [...now[0].children] : now).slice(1) : [];
    marked_.forEach((x, k) => x.classList.add(k === a ? "on" : "cx"));
    put(grid, { activedescendant: app.id(`m${cur[0]}-${cur[1]}`) });
  }
  function aim(a, c, select) {
    cur = [clamp(a, 0, agents.length - 1), clamp(c, 0, Math.max(0, cols.length - 1))];
    over = null;
    if (select && cols.length) app.ui.ev = cols[cur[1]];
    const lo = T ? cur[1] * H : cur[1] * wide, room = T ? grid.clientHeight - TALL : grid.clientWidth - side, was = T ? grid.scrollTop : grid.scrollLeft, size = T ? H : wide;
    const to = lo < was ? lo : lo + size > was + room ? lo + size - room + 2 : was;
    if (to !== was) { if (T) grid.scrollTop = to; else grid.scrollLeft = to; }
    if (!T) { const y = cur[0] * line, free = grid.clientHeight - HEAD; if (y < grid.scrollTop) grid.scrollTop = y; else if (y + line > grid.scrollTop + free) grid.scrollTop = y + line - free; }
    see();
    tell();
  }
  const open = (a, c) => { const { name, branch, scope } = agents[a]; app.contents({ agent: name, branch, scope }, cols[c]); };
  function tell() {
    const [a, c] = at(), i = cols[c], e = st.events[i], A = agents[a];
    if (!e || !A) return fill(why, h("p.mut", "Nothing to point at."));
    const letter = A.cells[i], known = exact && exact.agent === A.name && exact.event === i && exact.letter === letter ? exact : null;
    clearTimeout(wait);
    if (!known && letter) wait = setTimeout(() => el.isConnected && app.send({ type: "meet", agent: A.name, event: i }), over ? 180 : 60);
    const n = sharedBy(A.branch, e.branch), fails = letter === "b";
    const chars = (t, other) => (t ? h("code.chs", [...t].map((ch, k) => h("i", { class: k < n ? "eq" : k === n && fails ? "ne" : "" }, ch)), n === t.length && other.length > n && h("i", { class: other[n] === "." ? "eq" : fails ? "ne" : "" }, ".")) : mut("no branch"));
    const scope = (mine, theirs) => mine || theirs ? h("span.sc", { class: mine === theirs ? "eq" : "" }, mut(" scope "), mine ? h("code", { class: mine !== theirs && "ne" }, mine) : h("span", { class: "ne" }, "empty")) : "";
    const steps = known ? known.steps.filter((q) => q[1] !== "R5.27" || known.steps.length === 1) : [];
    fill(why,
      h("div.w1", letter ? swatch(letter, "au" + app.author(A.name)) : "", h("span.meet", who(app, A.name), mut(" looks at "), h("b", "#" + i + " "), who(app, e.author)), h("span.mut.tx", e.text), button(".b", { title: "This event in the request of this agent (Enter)", onclick: () => open(a, c) }, "Contents"), jump(app, "Events", i)),
      h("div.cmp", mut("agent"), h("span", chars(A.branch, ""), scope(A.scope, e.scope)), mut("event"), h("span", chars(e.branch, A.branch), scope(e.scope, A.scope))),
      known && letter !== "-" ? h("p", mut({ class: "ps" }, "By branch"), h("span", known.branch.why[0].toUpperCase() + known.branch.why.slice(1) + ".")) : "",
      steps.length ? steps.slice(0, 2).map((q) => h("p", mut({ class: "ps" }, st.book.passes[q[0] - 1][1]), h("span", q[3], " ", h("code.mut.go", { title: q[4] }, q[2]), " ", mut({ class: "go" }, q[1])))) : h("p", mut({ class: "ps" }, "Rule"), h("span", letter ? look(letter)[3] : "Not read yet.")));
  }

  // -- the whole session at a glance
  function drawMap() {
    const all = wide * cols.length, room = view[0] - side;
    track.hidden = T || all <= room + 4 || cols.length < 2;
    if (track.hidden) return;
    const w = (mapW = (track.clientWidth || 600) - 24), each = agents.length > 10 ? 3 : 5, dpr = window.devicePixelRatio || 1, css = getComputedStyle(el), colour = (name) => css.getPropertyValue(name).trim();
    const inks = { own: null, sees: colour("--rule"), reworded: colour("--reworded"), summarised: colour("--summarised"), scope: colour("--moved"), branch: "", empty: "", excluded: colour("--out"), fails: colour("--out") };
    map.width = w * dpr; map.height = (each + 1) * agents.length * dpr; map.style.width = w + "px"; map.style.height = (each + 1) * agents.length + "px";
    const g = map.getContext("2d");
    g.scale(dpr, dpr);
    agents.forEach((A, k) => {
      const own = colour("--a" + app.author(A.name)), step = cols.length / w;
      for (let x = 0; x < w; x++) { // a pixel is several events: the one that says most is drawn
        let best = "";
        for (let c = Math.floor(x * step); c < Math.max(Math.floor((x + 1) * step), Math.floor(x * step) + 1); c++) { const name = A.cells[cols[c]] && look(A.cells[cols[c]])[0]; if (name === "own") { best = name; break; } if (name && name in inks && inks[name] !== "" && (!best || name === "reworded")) best = name; }
        if (!best) continue;
        g.fillStyle = best === "own" ? own : inks[best];
        g.fillRect(x, k * (each + 1) + (best === "own" ? 0 : Math.floor(each / 2) - (best === "reworded" ? 1 : 0)), 1, best === "own" ? each : best === "reworded" ? 2 : 1);
      }
    });
    moveWindow();
  }
  function moveWindow() {
    if (track.hidden) return;
    const all = wide * cols.length, w = mapW, win = track.lastChild;
    win.style.left = 12 + (pos / all) * w + "px";
    win.style.width = Math.max(6, ((view[0] - side) / all) * w) + "px";
  }
  const drag = (e) => { const box = map.getBoundingClientRect(); grid.scrollLeft = ((e.clientX - box.left) / box.width) * wide * cols.length - (grid.clientWidth - side) / 2; };
  put(track, { onpointerdown(e) { track.setPointerCapture(e.pointerId); drag(e); }, onpointermove: (e) => e.buttons && drag(e) });

  let frame = 0;
  grid.addEventListener("scroll", () => { frame ||= requestAnimationFrame(() => { frame = 0; const [a, b] = window_(); if (a !== seen[0] || b !== seen[1]) see(); else moveWindow(); }); }, { passive: true });
  const spot = (e) => { const x = e.target.closest && e.target.closest("[data-c]"); return x ? [x.dataset.a === undefined ? cur[0] : Number(x.dataset.a), Number(x.dataset.c)] : null; };
  put(grid, { onclick: (e) => { const to = spot(e); if (to) aim(...to, true); }, ondblclick: (e) => { const to = spot(e); if (to) open(...to); }, onmouseleave: () => hover(), onmouseover: (e) => { const to = e.target.closest(".cell") && spot(e); if (to ? !over || over[0] !== to[0] || over[1] !== to[1] : over) hover(...(to || [])); } });
  grid.addEventListener("keydown", (e) => {
    const page = Math.max(1, seen[1] - seen[0] - 14);
    let [x, y] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], Home: [-1e9, 0], End: [1e9, 0], PageDown: [page, 0], PageUp: [-page, 0] }[e.key] || [0, 0];
    if (T) [x, y] = /^(Home|End|Page)/.test(e.key) ? [x, 0] : [y, x];
    if (x || y) aim(cur[0] + y, cur[1] + x, true);
    else if ((e.key === "Enter" || e.key === " ") && cols.length) open(...cur);
    else return;
    taken(e);
  });
  let was = 0;
  new ResizeObserver(() => { const now = grid.clientWidth * 1e4 + grid.clientHeight; if (now !== was) { was = now; lay(); } }).observe(grid);

  return { el, draw(what, m) {
    if (what === "matrix") take(m);
    if (what === "meeting") { exact = m; tell(); }
    if (what === "view" || what === "show") app.send({ type: "matrix", have: M && !M.more ? version : undefined, anew: what === "show" || undefined });
    if (what === "show") lay();
    if ((what === "select" || what === "show") && M && app.ui.ev !== null) { const c = cols.indexOf(app.ui.ev); if (c >= 0) aim(cur[0], c); }
    if (what === "rows" && M) lay();
  } };
}
