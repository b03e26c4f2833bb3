// ---- the editor: what a stop holds as a form or as JSON. A draft touches nothing until it is applied; the kernel checks it.

const LINE = 18;

/** `opened` and `left` are called when the editor comes and goes, `applied` when a draft has become part of the run. */
function editor(app, { opened, left, applied }) {
  const st = app.st;
  let what = "", mode = "form", stop = null, base = null, wait = 0, fields = [], groups = [];
  let drop = new Set(), faults = [];

  // -- the frame
  const picks = h("div.lb"), modes = choice("Edit as", [["form", "Form"], ["json", "JSON"]], mode, (m) => turn(m));
  const prob = h("div.prob", { id: app.id("prob"), role: "alert" });
  const apply = button(".b.pri", { title: "Apply (Ctrl+Enter)", onclick: () => commit() }, "Apply");
  const cancel = button(".b", { title: "Leave without applying (Esc)", onclick: () => close() }, "Cancel");
  const formBox = h("div.form", { tabindex: "-1" }), jsonBox = h("div.edb");
  const el = h("div.ed", h("div.ctl", picks, gap(), h("div.lb", mut("as"), modes)), formBox, jsonBox, h("div.edf", prob, gap(), cancel, apply));

  // -- JSON
  const nums = h("div.nums", { "aria-hidden": "true" }), band = h("div.band");
  const area = h("textarea", {
    spellcheck: "false", wrap: "off", label: "As JSON", describedby: prob.id,
    oninput() { number(); later(); },
    onscroll() { nums.scrollTop = area.scrollTop; band.style.transform = `translateY(${-area.scrollTop}px)`; },
  });
  jsonBox.append(nums, h("div.eda", band, area));
  function number() {
    const n = area.value.split("\n").length;
    if (nums.childElementCount !== n) fill(nums, Array.from({ length: n }, (_, k) => h("div", String(k + 1))));
  }

  // -- the form
  function control(f) {
    const attrs = { id: app.id("f" + fields.length), oninput: later, spellcheck: "false", "data-at": f.at };
    if (f.options) {
      const box = h("select", { ...attrs, label: f.label }, f.options.map((o) => h("option", { value: o }, o || "–")));
      if (!f.options.includes(f.value)) box.append(h("option", { value: f.value }, f.value));
      return box;
    }
    if (f.kind === "text" || f.kind === "json") {
      const lines = Math.min(14, Math.max(1, f.value.split("\n").length, Math.ceil(f.value.length / 90)));
      return h("textarea", { ...attrs, rows: lines, placeholder: "not set", class: f.kind === "json" ? "code" : "" });
    }
    return h("input", { ...attrs, type: "text", inputmode: /number|whole/.test(f.kind) ? "decimal" : null, placeholder: "not set" });
  }
  function line(f) {
    const c = control(f), says = h("span.fault", { id: c.id + "-says" });
    c.value = f.value;
    put(c, { describedby: says.id });
    fields.push({ ...f, c, says, was: c.value }); // a browser may have its own way with line ends
    return h("div.fl.is-" + f.kind, h("label", { for: c.id }, f.label), h("div.fc", c, says));
  }
  function group(g) {
    const at = g.at, i = at && Number(at.split("/")[2]);
    const out = at && button(".b.drop", { pressed: "false", title: "Leave this content out", onclick: () => {
      drop.delete(i) || drop.add(i);
      put(out, { pressed: drop.has(i) }); box.classList.toggle("dropped", drop.has(i)); later();
    } }, icon("out"), h("span", "Leave out"));
    const box = h("div.fg", { class: g.look, role: "group", label: g.title },
      h("h4", g.title, gap(), out || ""), g.note && h("p.mut", g.note), g.fields.map(line));
    return box;
  }
  /** Something new: a content at the end of a request, a key of an object. */
  function adding() {
    const request = what === "request";
    const key = request
      ? h("select", { label: "Role of a new content" }, ["user", "model"].map((role) => h("option", role)))
      : h("input", { type: "text", label: "New key", placeholder: "new key" });
    const [label, placeholder] = request
      ? ["Text of a new content", "a content more, at the end"]
      : ["Value of the new key, as JSON", "its value, as JSON"];
    const value = h("textarea", { rows: "1", spellcheck: "false", label, placeholder, class: request ? "" : "code", oninput: later });
    const says = h("span.fault");
    key.addEventListener("input", later);
    fields.push({ at: "+", c: value, says, key, added: true });
    return h("div.fg", { role: "group", label: "Add" }, h("h4", "Add"), h("div.fl.is-add", h("div", key), h("div.fc", value, says)));
  }
  function drawForm(m) {
    groups = m.groups; fields = []; drop = new Set();
    fill(formBox, groups.map(group), what === "event" || what === "response" || what === "content" ? "" : adding());
    formBox.scrollTop = 0;
  }

  // -- drafts
  function draft() {
    if (mode === "json") return { what, text: area.value };
    const changed = fields.filter((f) => !f.added && f.c.value !== f.was).map((f) => [f.at, f.c.value]);
    const add = fields.filter((f) => f.added && f.c.value.trim()).map((f) => [f.key.value, f.c.value]);
    return { what, fields: changed, drop: [...drop], add, base: base ?? undefined };
  }
  const dirty = () => mode === "json" || fields.some((f) => (f.added ? f.c.value : f.c.value !== f.was)) || drop.size > 0;
  function later() { apply.disabled = false; clearTimeout(wait); wait = setTimeout(() => app.send({ type: "check", ...draft() }), 250); }
  function commit() { clearTimeout(wait); app.send({ type: "edit", ...draft(), stop }); }
  /** The same draft in the other form; the kernel writes it. */
  function turn(to) {
    if (to === mode) return;
    clearTimeout(wait);
    const carried = dirty() ? draft() : base === null ? {} : { text: base };
    app.send(to === "json" ? { type: "text", why: "edit", ...carried, what } : { type: "form", ...carried, what });
  }

  // -- opening and closing
  function begin(name) {
    what = name; base = null;
    app.send(mode === "json" ? { type: "text", why: "edit", what } : { type: "form", what });
  }
  function close() {
    clearTimeout(wait);
    self.open = false;
    fill(formBox); area.value = "";
    left();
  }
  function shown(as) {
    mode = as; modes.set(as);
    formBox.hidden = as !== "form"; jsonBox.hidden = as !== "json";
    const offered = st.view.edits, several = offered.length > 1;
    fill(picks, several ? choice("What to edit", offered, what, (name) => name !== what && begin(name)) : h("b", offered.length ? offered[0][1] : ""));
    problem({ faults: [] });
    const fresh = !self.open;
    self.open = true;
    if (fresh) opened(); // before anything in it is given the focus
    return fresh;
  }
  /** The kernel says where a draft is wrong: the field, the line. */
  function problem(m) {
    faults = m.faults || [];
    const [at, row, where, message] = faults[0] || ["", 0, "", ""], more = m.more || 0;
    band.hidden = !row; band.style.top = row * LINE - 12 + "px";
    put(area, { invalid: mode === "json" && faults.length > 0 });
    [...nums.children].forEach((x, k) => x.classList.toggle("bad", k === row - 1));
    fields.forEach((f) => { f.wrong = ""; });
    for (const [place, , , said] of faults) { const f = fieldAt(place); if (f && !f.wrong) f.wrong = said; }
    fields.forEach((f) => { put(f.c, { invalid: f.wrong ? "true" : null }); text(f.says, f.wrong || ""); });
    apply.disabled = faults.length > 0;
    fill(prob, faults.length
      ? [icon("warn"), h("b", where || "JSON"), h("span", mode === "json" && row ? `line ${row}: ${message}` : message), more ? mut(`and ${more} more`) : ""]
      : mut("A draft: the run keeps what it has until you apply (Ctrl+Enter). Esc leaves."));
    if (mode === "json" && row) reveal(area, (row - 3) * LINE, 90);
  }
  /** The field that holds a place of the JSON, or lies in it. */
  function fieldAt(place) {
    const inside = (a, b) => a === b || a.startsWith(b + "/") || a.startsWith(b + "#");
    const fits = fields.filter((f) => inside(place, f.at) || inside(f.at, place));
    return fits.sort((a, b) => b.at.length - a.at.length)[0];
  }
  el.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { taken(e); close(); }
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { taken(e); commit(); }
  });

  const self = {
    el, open: false, begin,
    take(kind, m) {
      if (kind === "applied" && self.open) { close(); applied(); }
      if (kind === "problem" && self.open) problem(m);
      if ((kind === "form" || kind === "text") && m.what === what) {
        stop = m.stop; base = m.base ?? null;
        const fresh = shown(kind === "form" ? "form" : "json");
        if (kind === "form") drawForm(m); else { area.value = m.text; number(); }
        const first = kind === "form" ? formBox.querySelector("textarea, input, select") : area;
        if (first && (fresh || kind === "text" || !el.contains(document.activeElement))) first.focus();
        if (kind === "text") { area.setSelectionRange(0, 0); area.scrollTop = 0; }
      }
    },
  };
  return self;
}
