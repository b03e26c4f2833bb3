// The adknb panel: one anywidget, no build step, no dependency. It draws what the kernel sends and sends wishes back; it decides nothing.
//
// Traits        book   once       commands, stages and passes, each with its sentence
//               view   each stop  what is small: where we are, stages, breakpoints, agents, notes
//               stops, rows       timeline and events, whole when a view opens, then appended by messages (`base`: how many had been sent)
//               kept              answers by question, written by the browser (store.js)
// Messages      what they are stands in panel/desk.py; how they travel, and what happens without a kernel, in store.js

// ---- making elements: children that are strings become text nodes, so text of models, tools and files is never parsed

const ARIA = /^(label|selected|pressed|expanded|checked|level|sort|controls|labelledby|describedby|activedescendant|modal|invalid|haspopup|keyshortcuts|row(count|index)|value(min|max|now|text))$/;
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
  eye: "M1.8 8c2.6-5 9.8-5 12.4 0c-2.6 5-9.8 5-12.4 0M8 6.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6", undo: "M3 6.5h6.5a3.4 3.4 0 0 1 0 6.8H6M6 3.4L2.8 6.5L6 9.6", edit: "M3 13l.7-3L10.8 2.9l2.3 2.3L6 12.3z", copy: "M6 6h7v7H6zM3 10V3h7", stop: "M4 4h8v8H4z", plus: "M8 3.5v9M3.5 8h9",
  open: "M6 4l4 4l-4 4", warn: "M8 2.6L14 13H2zM8 6.4v3M8 11v.4", note: "M8 2.6a5.4 5.4 0 1 0 0 10.8a5.4 5.4 0 0 0 0-10.8M8 7.2v3.6M8 5v.4", play: "M5 3.2v9.6L12.6 8z", joined: "M1 8h14", alone: "M1 8h4M9 5l5 6M14 5l-5 6", waits: "M1 8h2m3 0h2m3 0h2", pause: "M5.5 3.5v9M10.5 3.5v9",
};
const icon = (name, c = "") => s("svg.i", { class: c, viewBox: "0 0 16 16" }, s("path", { d: ICONS[name] || (/^(before|after|on)_/.test(name) ? ICONS.hook : ICONS.text) }));

const FATES = { k: "kept", r: "reworded", m: "merged", v: "moved", s: "summarised", a: "added", o: "out" };
const word = (f) => (f === "out" ? "left out" : f);
