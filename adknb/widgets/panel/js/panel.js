// ---- the panel

const TABS = {
  Timeline: () => ({ el: h("div"), draw() {} }), // stands beside the views; a tab where there is no room for it
  Request: requestView, Contents: contentsView, Branches: branchesView, Events: eventsView, State: stateView, Where: whereView,
  Source: sourceView, Findings: findingsView,
};
const EXTRA = { Live: liveView, Screen: screenView }; // only where the kernel offers them (book.extra)
let panels = 0;

function render({ model, el: host, signal }) {
  const st = storeOf(model), uid = "adk" + ++panels, authors = ["user"], still = matchMedia("(prefers-reduced-motion: reduce)");
  const app = {
    st, ui: { tab: "Request", ev: null, stage: null, look: null }, id: (x) => `${uid}-${x}`, send: (m) => st.send(m, draw), calm: () => still.matches, help,
    author(name) { if (!authors.includes(name)) authors.push(name); const k = authors.indexOf(name); return k && ((k - 1) % 7) + 1; },
    select(i, tab) { app.ui.ev = i; tab ? app.tab(tab) : views[app.ui.tab].draw("select"); },
    tab(t) { app.ui.tab = t; frame(); views[t].draw("show"); },
    /** Shows a past stop without going there (ui.look), or the present one again. Views with `past` follow. */
    lookAt(n) {
      if (st.book.recording) { if (n !== null && n >= 0 && n < st.events.length) app.send({ type: "rewind", stop: n }); return; } // nothing runs: one goes there
      const leaves = n === null || n < 0 || n >= present();
      if (leaves && !app.ui.look) return;
      app.ui.look = leaves ? null : { stop: n, at: null, phase: "", events: st.events.length, why: "" };
      if (!leaves) app.send({ type: "look", stop: n });
      lookedAt();
      if (views[app.ui.tab].past) views[app.ui.tab].draw("show");
    },
    /** To a stage of the Flow by its name: lit in the track, and its source where there is a view of it. */
    stage(name) {
      const k = st.book.stages.findIndex((g) => g.id === name);
      if (k < 0) return;
      app.ui.stage = k; strip.draw();
      if (views.Source) app.tab("Source");
    },
    /** Contents as an agent would read them, at an event. */
    contents(viewer, i) { views.Contents.as(viewer); app.select(i, "Contents"); },
    /** Whether a command can be given now. */
    can: () => !st.view.over && !st.file && !st.silent && !st.busy,
    edit(what) { app.tab("Request"); views.Request.edit(what); },
  };
  st.view.agents.forEach((a) => app.author(a.name));
  const offered = (t) => t === "Timeline" || !st.book.tabs || st.book.tabs.includes(t); // a recording has fewer views
  const bar = toolbar(app), busy = progress(app, () => bar.disable()), strip = flow(app), look = looking(app), tree = timeline(app);
  const views = (app.views = Object.fromEntries([...Object.entries(TABS).filter(([t]) => offered(t)), ...(st.book.extra || []).map((t) => [t, EXTRA[t]])].map(([t, make]) => [t, make(app)])));
  const tabOf = (t) => {
    const attrs = { role: "tab", id: app.id("tab-" + t), controls: app.id(t === "Timeline" ? "p-Timeline" : "view") };
    return button("", { ...attrs, onclick: () => app.tab(t), onfocus: () => app.ui.tab !== t && app.tab(t) }, t);
  };
  const tabs = h("div.tabs", { role: "tablist", label: "Views" }, Object.keys(views).map(tabOf)), settle = roving(tabs, "button");
  const view = h("div.view", { role: "tabpanel", id: app.id("view") }), note = h("div.note"), wrong = h("div.note.wrong", { role: "alert" });
  const quiet = h("div.note.quiet", { role: "status" }), printed = h("pre.note", { tabindex: "0", label: "Printed by the last command" });
  const main = h("div.main", tree.el, h("div.work", tabs, quiet, look.el, note, wrong, printed, view));
  const root = app.root = h("div.adk", { role: "region", label: "adknb: " + st.view.title, tabindex: "-1" }, bar.el, busy.el, st.book.stages.length ? strip.el : "", main);

  function frame() {
    const t = app.ui.tab, v = st.view;
    for (const b of tabs.children) {
      const yes = b.id === app.id("tab-" + t);
      put(b, { selected: yes });
      b.tabIndex = yes ? 0 : -1;
      if (yes) tabs.scrollLeft = b.offsetLeft - 80;
    }
    main.dataset.tab = t; put(view, { labelledby: app.id("tab-" + t) });
    const held = view.contains(document.activeElement), el = views[t].el; // whoever worked in the old view goes on in the new one
    if (view.firstChild !== el) { fill(view, el); if (held) (el.querySelector("[role=listbox], [role=grid], .page") || root).focus(); }
    note.hidden = !v.note; text(note, v.note); printed.hidden = !v.printed; text(printed, v.printed);
    wrong.hidden = !v.problem;
    if (wrong.dataset.said !== v.problem) { wrong.dataset.said = v.problem; fill(wrong, icon("warn", "bad"), h("span", v.problem)); }
    quiet.hidden = !st.silent; text(quiet, st.silent); root.classList.toggle("silent", !!st.silent);
    look.draw(views[t].past);
    alerts(app, tabs);
    settle();
  }
  function lookedAt() { look.draw(views[app.ui.tab].past); tree.looked(); main.classList.toggle("in-past", !!app.ui.look); }
  /** Where the run stands: behind its last stop, once it is over. */
  const present = () => (st.view.over ? st.view.runs : st.view.runs - 1);
  let stood = st.view.at.stop;
  const focused = () => { const a = root.getRootNode().activeElement; return root.contains(a) ? a : null; };
  const gone = (e) => !root.contains(e) || e.disabled || !e.getClientRects().length;
  /** Whatever had the focus and was taken away or disabled hands it to the panel: keys must not fall through to the notebook. */
  function draw(what, m) {
    const held = focused();
    redraw(what, m);
    if (held && gone(held) && (focused() || held) === held) root.focus({ preventScroll: true });
  }
  function redraw(what, m) {
    if (what === "view") {
      if (app.ui.ev >= st.events.length) app.ui.ev = null;
      app.ui.stage = null;
      if (app.ui.look && stood !== st.view.at.stop) { app.ui.look = null; lookedAt(); } // the run has gone on: so does the reader
      stood = st.view.at.stop;
      bar.draw(); busy.draw(); strip.draw(); tree.draw(); frame();
    }
    if (what === "look" && app.ui.look && m.stop === app.ui.look.stop) {
      Object.assign(app.ui.look, m, { phase: m.at.phase });
      lookedAt();
      if (views[app.ui.tab].past) views[app.ui.tab].draw("looked");
    }
    if (what === "busy" || what === "idle") { busy.draw(); bar.disable(); }
    if (what === "silent") { bar.disable(); strip.draw(); tree.draw(); frame(); views[app.ui.tab].draw("show"); }
    if (what === "stops") tree.draw(); else views[app.ui.tab].draw(what, m);
  }
  function help() {
    const old = document.activeElement, x = button(".b", { onclick: () => { sheet.remove(); old.focus(); if (!focused()) root.focus(); } }, "Close");
    const onkeydown = (e) => {
      e.stopPropagation();
      if (/^(Escape|\?|Tab)$/.test(e.key)) e.preventDefault(); // there is one thing to focus
      if (/^(Escape|\?)$/.test(e.key)) x.click();
    };
    const row = ([keys, does]) => [h("dt", keys.split(" ").map((c) => [c === "…" ? c : h("kbd", c), " "])), h("dd", does)];
    const sheet = h("div.sheet", { role: "dialog", modal: "true", label: "Keys", onkeydown }, h("h4", "Keys", gap(), x), h("dl.kv", st.book.keys.map(row)));
    root.append(sheet); x.focus();
  }
  root.addEventListener("focusout", (e) => e.relatedTarget || setTimeout(() => {
    const a = root.getRootNode().activeElement, nowhere = !a || a === document.body;
    if (nowhere && document.hasFocus() && root.isConnected && gone(e.target)) root.focus({ preventScroll: true });
  }));
  root.addEventListener("keydown", (e) => {
    const field = e.target.matches("input:not([type=range], [type=checkbox]), textarea, select"), c = st.book.commands.find((x) => x[2] === e.key), tab = views[app.ui.tab];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    e.stopPropagation(); // plain keys are ours: the notebook's (d d deletes a cell) must not hear them; Ctrl+S and the like go on
    if (field && e.key !== "Escape") return;
    const named = tabs.children[Number(e.key) || 10];
    if (e.key === "Escape" && st.busy) busy.stop();
    else if (e.key === "Escape") { if (app.ui.look && !field) app.lookAt(null); root.focus(); }
    else if (e.key === "Enter" && e.shiftKey && app.ui.look) look.rewind();
    else if (e.key === "<" || e.key === ">") app.lookAt((app.ui.look ? app.ui.look.stop : present()) + (e.key === ">" ? 1 : -1));
    else if (c) { if (!e.repeat && !st.silent && !st.busy) app.send({ type: c[0] }); }
    else if (/^[0-9]$/.test(e.key) && named) named.focus();
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
  let attached = false;
  new ResizeObserver(() => {
    if (!attached && root.isConnected) { // what has one tab stop, or scrolls, can only now choose its place
      attached = true;
      bar.draw(); strip.draw(); tree.reveal(); frame();
    }
    theme();
    if (app.ui.tab === "Timeline" && !tabs.firstChild.offsetParent) app.tab("Request");
  }).observe(root);
  st.subs.add(draw);
  signal?.addEventListener("abort", () => { st.subs.delete(draw); watch.disconnect(); });
  host.append(root);
  theme(); draw("view");
  root.panel = { app, views }; // for tests
}
export default { render };
