// ---- where we are in the Flow

function flow(app) {
  const { stages, processors, breakpoints } = app.st.book, list = h("ol.track"), line = h("div.says"), settle = roving(list, "button");
  let hover = null;
  const point = (k) => { hover = k; tell(); };
  const items = stages.map((g, k) => button(".stop", { onclick: () => { app.ui.stage = k; tell(); }, onfocus: () => { app.ui.stage = k; tell(); }, onmouseenter: () => point(k), onmouseleave: () => point(null) }));
  list.append(...items.map((b) => h("li", b)));
  list.addEventListener("keydown", (e) => {
    const g = stages[app.ui.stage ?? 0];
    if (e.key === ".") { taken(e); flip(app, g.key); } else if (e.key === "Enter" && app.can()) { taken(e); app.send({ type: "until", at: g.key }); }
  });
  function tell() {
    const v = app.st.view, k = hover ?? app.ui.stage ?? v.here;
    if (k < 0) return fill(line, mut(v.at.say));
    const g = stages[k], t = v.stages[k], yes = marked(app, g.key);
    fill(line, h("span", h("b", g.id), ` ${t.says} `, mut(g.says)), h("code.go.mut", g.go),
      app.can() && button(".tog", { title: "Go on until this stage (Enter)", onclick: () => app.send({ type: "until", at: g.key }) }, icon("until"), h("span", "Run to here")),
      breakpoints && button(".tog", { class: yes && "on", pressed: yes, title: "Breakpoint at this stage (.)", onclick: () => flip(app, g.key) }, icon("break", "bp"), h("span", yes ? "Breakpoint set" : "Break here")));
  }
  return { el: h("nav.flow", { label: "Where we are in the Flow" }, list, line), draw() {
    const v = app.st.view;
    items.forEach((b, k) => {
      const g = stages[k], { state, full, label } = v.stages[k], yes = marked(app, g.key);
      b.parentNode.className = cls(state, g.noop && "noop", k === processors && "first");
      fill(b, h("span.dot", station(state, g.noop, full, v.at.phase), yes && icon("break", "bp")), h("span.nm", g.id.replace("_", " ")));
      put(b, { label: label + (yes ? ", breakpoint" : ""), "aria-current": state === "here" ? "step" : null });
    });
    tell(); settle();
  } };
}
