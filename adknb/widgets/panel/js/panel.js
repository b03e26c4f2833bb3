// ---- the panel

const TABS = { Timeline: () => ({ el: h("div"), draw() {} }), Request: requestView, Contents: contentsView, Events: eventsView, State: (app) => pageView(app, "State") };
let panels = 0;

function render({ model, el: host, signal }) {
  const st = storeOf(model), uid = "adk" + ++panels, authors = ["user"], still = matchMedia("(prefers-reduced-motion: reduce)");
  const app = {
    st, ui: { tab: "Request", ev: null, stage: null }, id: (x) => `${uid}-${x}`, send: (m) => model.send(m), calm: () => still.matches, help,
    author(name) { if (!authors.includes(name)) authors.push(name); const k = authors.indexOf(name); return k && ((k - 1) % 7) + 1; },
    select(i, tab) { app.ui.ev = i; tab ? app.tab(tab) : views[app.ui.tab].draw("select"); },
    tab(t) { app.ui.tab = t; frame(); views[t].draw("show"); },
  };
  st.view.agents.forEach((a) => app.author(a.name));
  const bar = toolbar(app), strip = flow(app), tree = timeline(app), views = Object.fromEntries(Object.entries(TABS).map(([t, make]) => [t, make(app)]));
  const tabs = h("div.tabs", { role: "tablist", label: "Views" }, Object.keys(TABS).map((t) => button("", { role: "tab", id: app.id("tab-" + t), controls: app.id(t === "Timeline" ? "p-Timeline" : "view"), onclick: () => app.tab(t), onfocus: () => app.ui.tab !== t && app.tab(t) }, t))), settle = roving(tabs, "button");
  const view = h("div.view", { role: "tabpanel", id: app.id("view") }), note = h("div.note"), wrong = h("div.note.wrong", { role: "alert" }), printed = h("pre.note", { tabindex: "0", label: "Printed by the last command" }), main = h("div.main", tree.el, h("div.work", tabs, note, wrong, printed, view));
  const root = app.root = h("div.adk", { role: "region", label: "adknb: " + st.view.title, tabindex: "-1" }, bar.el, strip.el, main);

  function frame() {
    const t = app.ui.tab, v = st.view;
    for (const b of tabs.children) { const yes = b.id === app.id("tab-" + t); put(b, { selected: yes }); b.tabIndex = yes ? 0 : -1; if (yes) tabs.scrollLeft = b.offsetLeft - 80; }
    main.dataset.tab = t; put(view, { labelledby: app.id("tab-" + t) });
    const held = view.contains(document.activeElement), el = views[t].el; // whoever worked in the old view goes on in the new one
    if (view.firstChild !== el) { fill(view, el); if (held) (el.querySelector("[role=listbox], [role=grid], .page") || root).focus(); }
    note.hidden = !v.note; text(note, v.note); printed.hidden = !v.printed; text(printed, v.printed);
    wrong.hidden = !v.problem; if (wrong.dataset.said !== v.problem) { wrong.dataset.said = v.problem; fill(wrong, icon("warn", "bad"), h("span", v.problem)); }
    settle();
  }
  const focused = () => { const a = root.getRootNode().activeElement; return root.contains(a) ? a : null; };
  const gone = (e) => !root.contains(e) || e.disabled || !e.getClientRects().length;
  /** Whatever had the focus and was taken away or disabled hands it to the panel: keys must not fall through to the notebook. */
  function draw(what, m) {
    const held = focused();
    redraw(what, m);
    if (held && gone(held) && (focused() || held) === held) root.focus({ preventScroll: true });
  }
  function redraw(what, m) {
    if (what === "view") { if (app.ui.ev >= st.events.length) app.ui.ev = null; app.ui.stage = null; bar.draw(); strip.draw(); tree.draw(); frame(); }
    if (what === "stops") tree.draw(); else views[app.ui.tab].draw(what, m);
  }
  function help() {
    const old = document.activeElement, x = button(".b", { onclick: () => { sheet.remove(); old.focus(); if (!focused()) root.focus(); } }, "Close");
    const sheet = h("div.sheet", { role: "dialog", modal: "true", label: "Keys", onkeydown: (e) => { e.stopPropagation(); if (/^(Escape|\?|Tab)$/.test(e.key)) e.preventDefault(); if (/^(Escape|\?)$/.test(e.key)) x.click(); } }, h("h4", "Keys", gap(), x), h("dl.kv", st.book.keys.map(([k, t]) => [h("dt", k.split(" ").map((c) => [h("kbd", c), " "])), h("dd", t)])));
    root.append(sheet); x.focus();
  }
  root.addEventListener("focusout", (e) => e.relatedTarget || setTimeout(() => { const a = root.getRootNode().activeElement; if ((!a || a === document.body) && document.hasFocus() && root.isConnected && gone(e.target)) root.focus({ preventScroll: true }); }));
  root.addEventListener("keydown", (e) => {
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName), c = st.book.commands.find((x) => x[2] === e.key), tab = views[app.ui.tab];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    e.stopPropagation(); // plain keys are ours: the notebook's (d d deletes a cell) must not hear them; Ctrl+S and the like go on
    if (field && e.key !== "Escape") return;
    const named = tabs.children[Number(e.key)];
    if (e.key === "Escape") root.focus();
    else if (c) { if (!e.repeat) app.send({ type: c[0] }); }
    else if (/^[1-9]$/.test(e.key) && named) named.focus();
    else if (e.key === "t") { if (tabs.firstChild.offsetParent) app.tab("Timeline"); tree.el.querySelector("[role=tree]").focus(); }
    else if (e.key === "?") help();
    else if (!tab.key || !tab.key(e)) return;
    taken(e);
  });
  /** The theme is read off the page: the panel's own background says whether it is dark, whatever the host calls it. */
  function theme() {
    if (!root.isConnected) return; // hosts may draw first and attach later
    const c = document.createElement("canvas").getContext("2d"), d = document.body;
    c.fillStyle = getComputedStyle(root).backgroundColor; c.fillRect(0, 0, 1, 1);
    const [r, g, b] = c.getImageData(0, 0, 1, 1).data;
    root.dataset.theme = 0.21 * r + 0.72 * g + 0.07 * b < 110 ? "dark" : "light";
    root.toggleAttribute("data-hc", /contrast/i.test(`${d.dataset.jpThemeName} ${d.className}`) || matchMedia("(prefers-contrast: more)").matches);
  }
  const watch = new MutationObserver(theme);
  watch.observe(document.body, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-name"] });
  new ResizeObserver(() => { theme(); if (app.ui.tab === "Timeline" && !tabs.firstChild.offsetParent) app.tab("Request"); }).observe(root);
  st.subs.add(draw);
  signal?.addEventListener("abort", () => { st.subs.delete(draw); watch.disconnect(); });
  host.append(root);
  theme(); draw("view");
  root.panel = { app, views }; // for tests
}
export default { render };
