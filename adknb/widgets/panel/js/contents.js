// ---- Contents: session events, request contents, ribbons between

const ROW = 20;
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - Math.pow(2 - 2 * t, 3) / 2);
/** What a pass reads of an event. */
const READS = { place: (e) => [e.branch, e.scope && "scope " + e.scope].filter(Boolean).join(" "), speech: (e) => e.kind === "speech" && "spoken", "call ids": (e) => [...e.calls.map((c) => "→" + c), ...e.answers.map((c) => "←" + c)].join(" ") };

function contentsView(app) {
  const st = app.st, P = st.book.passes, LAST = P.length, opened = new Set(), single = new Set(), now = new Map(), cells = new Map();
  let asm = null, who_ = null, left = [], list = [], pass = LAST, pin = null, peeked = null, playing = 0, asked = 0, raf = 0, late = false, geo = {};

  const ask = (viewer, anew) => app.send({ type: "assemble", ask: ++asked, viewer, open: [...opened], have: asm ? asm.v : undefined, anew: anew || undefined }), what = (change) => ask({ ...asm.viewer, ...change });
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
    if (m.same) { asm.sent = m.sent; return paint(true); }
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
    for (const [k, v] of [["l", l], ["r", r], ["ml", geo.mL], ["mr", geo.mR], ["no", asm.rows.some((u) => u.bars) ? 13 * String(asm.sizes[LAST]).length + 8 : 16]]) el.style.setProperty("--" + k, v + "px");
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
  /** How far each column is pushed down: the shorter one goes slower, so that both come to their ends together. */
  function pushed() {
    const V = scroll.clientHeight, all = Math.max(left.length, list.length) * ROW + 3, range = Math.max(0, all - V), at = Math.min(scroll.scrollTop, range), push = (n) => (range ? at * (1 - Math.max(0, n * ROW + 3 - V) / range) : 0);
    return [push(left.length), push(list.length)];
  }
  /** Brings a row of a column into sight. */
  function show(k, right) {
    const V = scroll.clientHeight, n = right ? list.length : left.length, all = Math.max(left.length, list.length) * ROW + 3, slow = Math.max(0, n * ROW + 3 - V) / Math.max(1, all - V), y = k * ROW;
    if (k < 0 || !slow) return;
    if (y < scroll.scrollTop * slow) scroll.scrollTop = y / slow; else if (y + ROW + 3 > scroll.scrollTop * slow + V) scroll.scrollTop = (y + ROW + 3 - V) / slow;
  }
  /** One frame: rows at their heights, ribbons between them, arcs from responses to calls. */
  function draw() {
    const { W, small, x0, x1, mL, mR } = geo, sel = app.ui.ev, arcs = [], half = ROW / 2 + 0.5, [dl, dr] = pushed();
    L.style.transform = `translateY(${dl}px)`; R.style.transform = `translateY(${dr}px)`;
    put(svg, { height: stage.offsetHeight });
    for (const [key, c] of cells) { const [y, o] = now.get(key); c.style.transform = `translateY(${y}px)`; c.style.opacity = o; }
    left.forEach(({ rib, edge, tag }, k) => {
      const [y0, part, q] = now.get("rib" + k), y = y0 + dr * q + dl * (1 - q), a = k * ROW + 2 + dl, b = a + ROW - 4, c = (a + b) / 2, tip = x0 + (small ? 14 : 26), X = tip + (x1 - tip) * q, t = c + (y + 1.5 - c) * q, z = c + (y + Math.max(part, 5) - 1.5 - c) * q, m = (x0 + X) / 2;
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
      new Set(e.answers).forEach((a) => { const c = calls.get(a), y = k * ROW + half + dl; c === undefined ? arcs.push(s("path.arc.lost", { d: `M${mL - 2} ${y}h-5m-2-3l-4 6m0-6l4 6` })) : arc(mL - 2.5, y, c * ROW + half + dl, -1, mL - 6, sel === u.a || sel === left[c].u.a); });
    });
    list.forEach((x) => x.calls.forEach((c) => called.set(c, x)));
    list.forEach((x) => {
      const [y0, o] = now.get(x.key), y = y0 + dr, g = x1 - (small ? 16 : 30) * o, c = y + ROW / 2;
      new Set(x.answers).forEach((a) => { const to = called.get(a); if (to && to !== x) arc(W - mR + 2.5, y + half, now.get(to.key)[0] + dr + half, 1, mR - 6, mine(x) || mine(to)); });
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
    const lines = (steps) => steps.map((q) => h("p", mut({ class: "ps" }, P[q.pass - 1][1]), h("span", q.why, " ", h("code.mut.go", { title: q.file }, q.go), " ", mut({ class: "go" }, q.rule)))), tag = (f) => h("span.fate.f-" + f, icon(f), word(f));
    if (!x) return fill(why, h("p.mut", "Point at an event, or use the arrow keys, to read what became of it and by which rule. [ and ] step through the passes, p plays them."));
    if (!x.u) return fill(why, h("div.w1", tag("added"), "stands for no event of the session", gap(), mut("content " + cells.get(x.key).no)), ...(x.step >= 0 ? lines([asm.steps[x.step]]) : []));
    const { u, e, n } = x;
    fill(why, h("div.w1", n > 1 ? [h("b", `Events ${u.a}–${u.b - 1}`), mut("Enter opens the turn")] : [tag(u.fate), h("b", "#" + u.a), who(app, e.author), mut(e.kind, " ", e.names)], gap(), mut(u.to.length > 2 ? count(u.to.length, "content") : u.to.length ? "content " + u.to.join(", ") : "in no content"), jump(app, "Events", u.a), jump(app, "Branches", u.a)),
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
  let still = 0;
  scroll.addEventListener("scroll", () => { if (left.length !== list.length) still ||= requestAnimationFrame(() => { still = 0; if (asm && el.isConnected) draw(); }); }, { passive: true });
  const walk = (right) => (e) => {
    const k = rowOf(app.ui.ev ?? -1), to = moveBy(e, right ? list.findIndex((x) => (pin ? x.key === pin : x.from.includes(k))) : k, right ? list.length : left.length);
    if (to !== undefined) { right ? choose(list[to]) : app.select(left[to].u.a); show(to, right); }
    else if (e.key === (right ? "ArrowLeft" : "ArrowRight")) (right ? L : R).focus();
    else if (e.key === "Enter" && k >= 0) left[k].n > 1 || left[k].u.of >= 0 ? unfold(left[k].u) : app.tab("Events");
    else return;
    taken(e);
  };
  L.addEventListener("keydown", walk(false)); R.addEventListener("keydown", walk(true));
  new ResizeObserver(() => scroll.clientWidth && scroll.clientWidth !== geo.W && paint(true)).observe(scroll);

  return {
    el, goTo, as: (viewer) => (who_ = viewer),
    key(e) { if (e.key === "p") toggle(); else if (e.key === "[" || e.key === "]") { stop(); goTo(pass + (e.key === "]" ? 1 : -1)); } else return false; return true; },
    draw(news, m) {
      if (news === "assembly") take(m);
      if (news === "absent" && m.to.type === "assemble" && m.to.viewer && asm) { // nobody is there to assemble: say so, and show what is shown
        const v = asm.viewer;
        agent.value = v.agent; branch.value = v.branch; scope.value = v.scope; include.set(v.include || ""); compact.checked = !!v.compaction;
        text(off, "What if: this one needs a kernel"); reset.hidden = true; form.classList.add("other");
      }
      if (news === "rows" && late) ask(null);
      if (news === "view" || news === "show") {
        const a = st.view.agents, options = (key) => h("datalist", { id: app.id(key) }, [...new Set([...a, ...st.events].map((x) => x[key]))].filter(Boolean).map((x) => h("option", { value: x })));
        fill(agent, a.filter((x) => x.llm).map((x) => h("option", { value: x.name }, x.name)));
        fill(lists, options("branch"), options("scope"));
        if (who_) { ask(who_, news === "show"); who_ = null; } else if (news === "view" || !asm) ask(null); else ask(form.classList.contains("other") ? asm.viewer : null, true);
        if (news === "show" && asm) paint(true);
      }
      if (asm && left.length && (news === "select" || news === "show")) { mark(); draw(); if (app.ui.ev !== null) show(rowOf(app.ui.ev)); }
    },
  };
}
