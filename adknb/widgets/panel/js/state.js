// ---- State: a page; a key singled out shows its history

Object.assign(SPAN, {
  key: (app, name) => button(".lk.key", { pressed: !!name && name === app.ui.key, title: name ? "Only the writes of this key" : "All deltas", onclick: () => app.pickKey(name) }, name || "All keys"),
  scope: (app, name) => h("span.kf", { class: name === "session" ? "" : name.replace(":", "") }, name),
  pending: (app, words) => h("span.pending", icon("waits"), words),
});

function stateView(app) {
  const more = {}, page = pageView(app, "State", more);
  app.ui.key = "";
  app.pickKey = (name) => {
    app.ui.key = name === app.ui.key ? "" : name;
    if (app.ui.key) more.key = app.ui.key; else delete more.key;
    page.ask();
    page.body.focus();
  };
  return { ...page, key: (e) => e.key === "Backspace" && !!app.ui.key && (app.pickKey(""), true) };
}
