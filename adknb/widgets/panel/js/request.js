// ---- Request: a page, and an editor whose drafts the kernel checks

function requestView(app) {
  const st = app.st, more = { against: "stop" }, page = pageView(app, "Request", more), { body, el } = page, act = (t, f, title) => button(".b", { onclick: f, title }, t), get = (why) => app.send({ type: "text", why });
  let editing = false, wait = 0, stop = null;
  const cmp = h("div.lb", mut("Changes since"), choice("Changes since", [["stop", "last pause"], ["request", "last request"]], more.against, (v) => { more.against = v; page.ask(); })), sum = mut(), flash = mut({ role: "status", class: "flash" });
  const undo = act("Undo edit", () => { edit.focus(); app.send({ type: "unedit" }); }), copy = button(".b.copy", { onclick: () => get("copy") }, "Copy JSON"), edit = act("Edit as JSON", () => get("edit"), "Edit as JSON (e)"), apply = button(".b.pri", { onclick: () => commit() }, "Apply"), commit = () => app.send({ type: "edit", text: area.value, stop });
  const nums = h("div.nums", { "aria-hidden": "true" }), band = h("div.band"), prob = h("div.prob", { id: app.id("prob"), role: "alert" });
  const area = h("textarea", { spellcheck: "false", wrap: "off", label: "Request as JSON", describedby: prob.id,
    oninput() { lines(); clearTimeout(wait); wait = setTimeout(() => app.send({ type: "check", text: area.value }), 250); },
    onscroll() { nums.scrollTop = area.scrollTop; band.style.transform = `translateY(${-area.scrollTop}px)`; },
    onkeydown(e) { e.stopPropagation(); if (e.key === "Escape") { e.preventDefault(); open(false); } if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); commit(); } },
  });
  const ed = h("div.ed", h("div.edb", nums, h("div.eda", band, area)), h("div.edf", prob, gap(), act("Cancel", () => open(false), "Leave without applying (Esc)"), apply));
  const bar = h("div.ctl", cmp, sum, flash, h("div.lb.acts", undo, copy, edit));
  el.prepend(bar); el.append(ed);
  const lines = () => { const n = area.value.split("\n").length; if (nums.childElementCount !== n) fill(nums, Array.from({ length: n }, (_, k) => h("div", String(k + 1)))); };
  function open(yes, t) {
    clearTimeout(wait);
    editing = yes; ed.hidden = !yes; body.hidden = bar.hidden = yes;
    if (!yes) return (edit.disabled ? body : edit).focus();
    area.value = t; lines(); problem({ line: 0 }); area.focus(); area.setSelectionRange(0, 0); area.scrollTop = 0;
  }
  /** The kernel says where a draft is wrong: the line is marked, the field named. */
  function problem({ line, where, message, more }) {
    band.hidden = !line; band.style.top = line * 18 - 12 + "px"; put(area, { invalid: line > 0 }); apply.disabled = line > 0;
    [...nums.children].forEach((x, k) => x.classList.toggle("bad", k === line - 1));
    fill(prob, line ? [icon("warn"), h("b", where), h("span", `line ${line}: ${message}`), more ? mut(`and ${more} more`) : ""] : mut("A draft: the run keeps its request until you apply (Ctrl+Enter). Esc leaves."));
    if (line) reveal(area, (line - 3) * 18, 90);
  }
  ed.hidden = true;
  return { el, key: (e) => e.key === "e" && !editing && !edit.disabled && (get("edit"), true), draw(what, m) {
    const locked = st.view.locked;
    undo.hidden = !st.view.edited; edit.disabled = !!locked; bar.hidden = editing || /being built/.test(locked); edit.title = locked || "Edit as JSON (e)";
    if (what === "view" || what === "show") text(flash, locked && !/over|being built/.test(locked) ? locked : st.view.edited ? "Edited: the run goes on with this request." : "");
    if (what === "applied") { open(false); page.ask(); }
    if (what === "problem") problem(m);
    if (what === "text") { if (m.why === "edit") { stop = m.stop; open(true, m.text); } else navigator.clipboard.writeText(m.text).then(() => text(flash, "Copied."), () => text(flash, "The browser refuses to copy here.")); }
    if (what === "page" && m.name === "Request") text(sum, m.sum || "");
    page.draw(what, m);
  } };
}
