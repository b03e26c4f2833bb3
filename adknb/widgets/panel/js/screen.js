// ---- Screen: the events as they come, and what a user's screen shows of each, with and without each filter

function screenView(app) {
  const body = h("div.page.screens", { tabindex: "0", role: "group", label: "Screen" }), el = h("section", body);
  const ask = (more) => app.send({ type: "page", name: "Screen", ...more });
  const head = (x) => h("th", { scope: "col", title: x.says }, x.fault && icon("warn", "bad"), x.name, x.fault && mut(" a fault"));
  const event = (e) => h("th", { scope: "row", class: e.coming ? "coming" : "" },
    who(app, e.author), h("span.tag", e.partial ? "chunk" : "whole"), e.coming && h("b", " here"), h("div.sy", e.text));
  function outcomeOf(m) {
    if (!m.outcome) return m.can && !app.st.file && h("div.ctl", button(".b", { onclick: () => ask({ ask: true }) }, icon("play"), "What comes of it"),
      mut("A copy of the run goes on with this chunk as it stands. Edit it first (tab Request) to see what changes."));
    const o = m.outcome;
    return h("div.outcome", { role: "status" }, h("h4", "What comes of it"), h("p.mut", `As it stands, up to ${o.at}.`),
      o.state.length ? h("table", h("tbody", o.state.map(([k, was, is]) => h("tr", h("th", { scope: "row" }, k), h("td", h("del", was)), h("td", h("ins", is)))))) : h("p", "The state stays as it is."),
      o.agent && h("p", h("b", o.agent), " is told: ", h("span.sy", o.prompt)));
  }
  return { el, draw(what, m) {
    if (/view|show/.test(what)) ask();
    if (what === "absent" && m.to.type === "page" && m.to.name === "Screen") fill(body, h("p.mut", notHere(app)));
    if (what !== "page" || m.name !== "Screen") return;
    const left = body.scrollLeft, top = body.scrollTop;
    fill(body, h("div", outcomeOf(m), m.skipped ? h("p.mut", `${count(m.skipped, "event")} before these`) : null, h("table.grid2",
      h("thead", h("tr", h("th", { scope: "col" }, "event"), m.screens.map(head))),
      h("tbody", m.events.map((e, k) => h("tr", event(e), m.screens.map((x) => h("td", x.added[k] ? h("span.sy", x.added[k]) : mut("·"))))),
        h("tr.all", h("th", { scope: "row" }, "on the screen"), m.screens.map((x) => h("td", { class: x.fault ? "bad2" : "" }, h("span.sy", x.whole))))))));
    body.scrollLeft = left; body.scrollTop = top;
  } };
}
