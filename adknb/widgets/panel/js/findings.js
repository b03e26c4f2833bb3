// ---- Findings: what must hold now, and what the doctor says; both lead to the events concerned

Object.assign(SPAN, {
  go: (app, [i, tab]) => jump(app, tab, i),
  examine: (app, words) => button(".b", { onclick: () => app.send({ type: "page", name: "Findings", examine: true }) }, words),
});

const findingsView = (app) => pageView(app, "Findings");
/** How many invariants are broken at this pause stands beside the tab's name, whichever tab is open. */
function alerts(app, tabs) {
  const b = tabs.querySelector("#" + CSS.escape(app.id("tab-Findings"))), n = app.st.view.alerts || 0;
  if (b && b.dataset.n !== String(n)) { b.dataset.n = n; fill(b, "Findings", n ? h("span.num.bad", { title: count(n, "broken invariant") }, " " + n) : ""); }
}
