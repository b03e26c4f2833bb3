// ---- plain pages: blocks that the kernel also turns into text and static HTML

const SPAN = {
  i: (app, name) => icon(name),
  ev: (app, i) => button(".lk", { onclick: () => app.select(i, "Events") }, "#" + i),
  au: who,
  st: (app, name) => button(".lk.stg", { title: `Written by the stage ${name}`, onclick: () => app.stage(name) }, name.replace("_", " ")),
  ed: (app, what) => (app.ui.look || !app.st.view.edits.some(([name]) => name === what) ? "" : button(".b", { onclick: () => app.edit(what) }, "Edit")),
};
/** Code breaks after punctuation; only what is long breaks anywhere, and even then its end stays in one piece. */
const soft = (t) => t.length > 400 ? t : (t.match(/\s+|[^\s(,=:{[]*[(,=:{[]|[^\s(,=:{[]+/g) || []).flatMap((w) => {
  if (/^[!-~]{1,16}$/.test(w)) return [h("span.nb", w), /[(,=:{[]$/.test(w) && h("wbr")];
  const end = /^(\S{7,})([!-~]{10})$/.exec(w);
  return end ? [end[1], h("span.nb", end[2])] : w;
});
const spans = (app, xs, code) => {
  if (code && xs[xs.length - 1] === ")" && typeof xs[xs.length - 2] === "string") xs = [...xs.slice(0, -2), xs[xs.length - 2] + ")"];
  return xs.map((x) => {
    if (typeof x === "string") return code ? soft(x) : x;
    const [kind, ...inner] = x;
    if (SPAN[kind]) return SPAN[kind](app, inner[0]);
    const tag = /^(code|b|del|ins)$/.test(kind) ? kind : /^(mut|th|fn|bad|line|note)$/.test(kind) ? "span." + kind : "span";
    return h(tag, spans(app, kind === "fn" ? [...inner.slice(0, -1), "  ", inner.at(-1)] : inner, code || /^(code|fn)$/.test(kind)));
  });
};
const BLOCK = {
  h: (app, ...xs) => h("h4", spans(app, xs)),
  p: (app, ...xs) => h("p", spans(app, xs)),
  pre: (app, t) => h("pre", t),
  table: (app, head, rows) => h("table",
    head && h("thead", h("tr", head.map((c) => (c.length ? h("th", { scope: "col" }, spans(app, c)) : h("td"))))),
    h("tbody", rows.map((r) => h("tr", r.map((c) => h("td", spans(app, c))))))),
  rows: (app, look, rows) => h("div." + look, rows.map((r) => h("div.rw", { class: r.look },
    h("div.by", spans(app, r.by)), h("div.lines", r.text.map((l) => h("div", spans(app, l)))), r.op && h("span.op." + r.op[0], r.op[1])))),
};

const notHere = (app) => (app.st.file ? "The file does not hold this: it needs a kernel." : "This was not looked at while there was a kernel.");

function pageView(app, name, more = {}) {
  const body = h("div.page", { tabindex: "0", role: "group", label: name }), el = h("section", body), ask = () => app.send({ type: "page", name, ...more });
  return { el, body, ask, draw(what, m) {
    if (/view|show/.test(what)) ask();
    if (what === "absent" && m.to.type === "page" && m.to.name === name) fill(body, h("div", h("p.mut", notHere(app))));
    if (what === "page" && m.name === name) { const top = body.scrollTop; fill(body, m.columns.map((c) => h("div", c.map(([k, ...xs]) => BLOCK[k](app, ...xs))))); body.scrollTop = top; }
  } };
}
