// ---- shared pieces

const taken = (e) => { e.preventDefault(); e.stopPropagation(); };
/** Arrow keys in a list: the new place, or undefined for a key that is not ours. */
const moveBy = (e, k, n) => {
  const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[e.key];
  return d && n ? clamp(k + d, 0, n - 1) : undefined;
};
const sideways = (e) => ({ ArrowRight: 1, ArrowLeft: -1, Home: -99, End: 99 })[e.key];
/** Scrolls a row into sight, and no further. */
function reveal(box, y, rowH, head = 0) {
  const low = y + rowH + head - box.clientHeight;
  if (y < box.scrollTop) box.scrollTop = y; else if (low > box.scrollTop) box.scrollTop = low;
}
/** A list of which only the rows in sight exist. `paint` makes them anew; scrolling keeps those that stay in sight. */
function virtual(box, rowH, row, head = 0) {
  const inner = h("div.v-in", { role: box.role === "grid" ? "rowgroup" : "presentation" });
  let n = 0, made = new Map();
  function draw() {
    const a = clamp(Math.floor(box.scrollTop / rowH) - 8, 0, n), b = clamp(a + Math.ceil((box.clientHeight || 400) / rowH) + 16, 0, n), kept = new Map();
    for (let k = a; k < b; k++) {
      const e = made.get(k) || row(k);
      e.style.top = k * rowH + "px";
      kept.set(k, e);
    }
    for (const [k, e] of made) if (!kept.has(k)) e.remove();
    made = kept;
    inner.style.height = n * rowH + "px";
    let before = null; // in their order, and none is moved that stands where it should
    for (const e of kept.values()) {
      const place = before ? before.nextSibling : inner.firstChild;
      if (place !== e) inner.insertBefore(e, place);
      before = e;
    }
  }
  const paint = () => { made.clear(); inner.replaceChildren(); draw(); };
  box.append(inner);
  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  return { paint, set(m) { n = m; paint(); }, show(k) { reveal(box, k * rowH, rowH, head); paint(); } };
}
/** Buttons in a row with one tab stop; arrows move it. */
function roving(box, pick) {
  const all = () => [...box.querySelectorAll(pick)].filter((b) => b.offsetParent), set = (b) => box.querySelectorAll(pick).forEach((x) => (x.tabIndex = x === b ? 0 : -1));
  put(box, {
    onkeydown(e) { const xs = all(), k = xs.indexOf(e.target), d = sideways(e); if (k >= 0 && d) { taken(e); xs[clamp(k + d, 0, xs.length - 1)].focus(); } },
    onfocusin: (e) => e.target.matches(pick) && set(e.target),
  });
  return () => {
    const xs = all();
    if (xs.length && xs.filter((b) => !b.tabIndex).length !== 1) set(xs.find((b) => b.matches("[aria-current], [aria-selected=true]")) || xs[0]);
  };
}
/** One of a few (a radio group). */
function choice(label, options, now, pick) {
  const take = (v) => { set(v); pick(v); };
  const xs = options.map(([v, t]) => button("", { role: "radio", onclick: () => take(v), onfocus: () => now !== v && take(v) }, t));
  const box = h("div.seg", { role: "radiogroup", label }, xs);
  const set = (v) => { now = v; xs.forEach((b, k) => put(b, { checked: options[k][0] === v, tabindex: options[k][0] === v ? 0 : -1 })); };
  roving(box, "button"); set(now);
  return Object.assign(box, { set });
}
/** The marks of a track. Shape says the state; colour only repeats it. */
function station(state, noop, wrote, phase) {
  const c = (name, r) => s("circle." + name, { r });
  const here = () => [c("ring", 8.2), c("core", 5), phase === "before" && s("path.half", { d: "M0-5a5 5 0 0 1 0 10z" })];
  const done = () => [c(wrote ? "full" : "hollow", wrote ? 6.5 : 5.5), s("path", { d: "M-2.8.3L-.8 2.4L3-2", class: wrote ? "tick" : "" })];
  const mark = state === "here" ? here() : noop ? c("dash", 5) : state === "done" ? done() : c("hollow", 3.5);
  return s("svg.st", { class: state, viewBox: "-10 -10 20 20" }, mark);
}
const who = (app, name) => h("span.who", { title: name }, h("i.au.au" + app.author(name)), h("span", name));
const jump = (app, tab, i) => button(".b", { onclick: () => app.select(i, tab) }, tab);
const marked = (app, key) => app.st.view.marks.some((m) => m[0] === key);
const flip = (app, key) => key && app.st.book.breakpoints && app.send({ type: "break", at: key, on: !marked(app, key) });
/** Turns of the run count from 1; those that the session had before it are numbered from the first event. */
const turnNames = (st, a, b) => {
  const n = (t) => (a > 0 ? t : t - st.events[0].turn + 1), name = a > 0 ? "turn" : "earlier turn";
  return a === b ? `${name} ${n(a)}` : `${name}s ${n(a)}–${b > 0 && a <= 0 ? "now" : n(b)}`;
};
