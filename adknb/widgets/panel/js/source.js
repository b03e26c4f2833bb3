// ---- Source: the Python text of this stop or of a stage of the track, in colours; where it is, and what explains it

BLOCK.source = (app, first, lines) => h("div.src", { tabindex: "0", role: "region", label: "Source" }, h("div.lnos", { "aria-hidden": "true" }, lines.map((_, k) => h("div", String(first + k)))),
  h("pre.code", { translate: "no" }, lines.map((line) => h("div", line.length ? line.map(([kind, t]) => (kind ? h("span.t-" + kind, t) : t)) : "\u200b"))));

function sourceView(app) {
  const st = app.st, more = {}, page = pageView(app, "Source", more);
  const pick = h("select", { label: "Which function", onchange: () => { more.show = pick.value; page.ask(); } }), note = mut(), back = button(".b", { hidden: true, onclick: () => { app.ui.stage = null; page.body.focus(); follow(); } }, "Back to this stop");
  page.el.prepend(h("div.ctl", h("label", mut("Show"), pick), back, gap(), note));
  let stage = null;
  function follow() {
    const now = app.ui.stage;
    if (now !== stage) { stage = now; delete more.show; }
    if (stage === null) delete more.stage; else more.stage = stage;
    page.ask();
  }
  return { ...page, draw(what, m) {
    if (what === "view" || what === "show") { if (what === "view") delete more.show; return follow(); }
    if (what === "page" && m.name === "Source") {
      fill(pick, m.options.map(([value, words]) => h("option", { value }, words)));
      pick.value = m.show; pick.disabled = m.options.length < 2; back.hidden = !m.picked;
      text(note, m.picked ? `The stage ${st.book.stages[stage] ? st.book.stages[stage].id.replace("_", " ") : ""}, not where the run is` : "");
    }
    page.draw(what, m);
  } };
}
