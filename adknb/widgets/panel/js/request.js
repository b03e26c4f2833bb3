// ---- Request: the page of a stop, present or past; what changed; copies to take away; the way into the editor

const AGAINST = [["stop", "last pause"], ["step", "step began"], ["request", "last request"]];
const COPIES = [["json", "as JSON"], ["curl", "as curl for the Gemini API"], ["python", "as Python"]];

function requestView(app) {
  const st = app.st, options = st.book.against || AGAINST, more = { against: options[0][0] }, page = pageView(app, "Request", more), { body, el } = page;
  const ed = editor(app, { opened: () => show(true), left: () => { show(false); (edit.disabled ? body : edit).focus(); }, applied: () => page.ask() });
  let jumped = -1;

  // -- the bar
  const against = choice("Changes since", options, more.against, (v) => { more.against = v; page.ask(); });
  const sum = button(".lk.sum", { title: "To the next change (j)", onclick: () => jumpToChange(1) });
  const flash = mut({ role: "status", class: "flash" });
  const takeBack = () => { edit.focus(); app.send({ type: "undo" }); };
  const undo = button(".b", { title: "Take the last edit of this stop back (u)", onclick: takeBack }, icon("undo"), h("span", "Undo edit"));
  const menu = h("div.pop.menu", { role: "menu", label: "Copy the request", hidden: true }, COPIES.map(([as, label]) =>
    button("", { role: "menuitem", tabindex: "-1", onclick: () => { opened(false); copied(as); } }, label)));
  const copy = button(".b.copy", { haspopup: "menu", expanded: "false", title: "Copy the request (c)", onclick: () => opened(menu.hidden) },
    icon("copy"), h("span", "Copy"));
  const edit = button(".b", { onclick: () => begin() }, icon("edit"), h("span", "Edit"));
  const bar = h("div.ctl.rq", h("div.lb", mut("Changes since"), against), sum, flash, h("div.lb.acts", undo, h("span.anchor", copy, menu), edit));
  menu.addEventListener("keydown", (e) => {
    const xs = [...menu.children], to = moveBy(e, xs.indexOf(document.activeElement), xs.length);
    if (to !== undefined) { taken(e); xs[to].focus(); }
    if (/^(Escape|Tab)$/.test(e.key)) { taken(e); opened(false); copy.focus(); }
  });
  menu.addEventListener("focusout", (e) => menu.contains(e.relatedTarget) || e.relatedTarget === copy || opened(false));
  function opened(yes) {
    menu.hidden = !yes;
    put(copy, { expanded: yes });
    if (yes) menu.firstChild.focus();
  }
  const copied = (as) => app.send({ type: "text", why: "copy", as, stop: app.ui.look ? app.ui.look.stop : undefined });
  function paste(m) {
    opened(false);
    const done = () => text(flash, "Copied."), refused = () => text(flash, "The browser refuses to copy here.");
    navigator.clipboard ? navigator.clipboard.writeText(m.text).then(done, refused) : refused();
  }

  // -- changes, one after another
  function jumpToChange(way) {
    const marks = [...body.querySelectorAll(".op, ins, del")].filter((x, k, xs) => !k || x.closest(".rw, tr") !== xs[k - 1].closest(".rw, tr"));
    if (!marks.length) return;
    jumped = (jumped + way + marks.length) % marks.length;
    const at = marks[jumped].closest(".rw, tr") || marks[jumped];
    body.querySelectorAll(".at").forEach((x) => x.classList.remove("at"));
    at.classList.add("at");
    at.scrollIntoView({ block: "center", behavior: app.calm() ? "auto" : "smooth" });
  }

  // -- the editor in its place
  function show(editing) { ed.el.hidden = !editing; body.hidden = bar.hidden = editing; }
  const begin = (what) => (ed.open ? null : ed.begin(what || st.view.edits[0][0]));
  show(false);
  el.prepend(bar); el.append(ed.el);
  function drawBar() {
    const locked = st.view.locked, past = !!app.ui.look, none = past || !st.view.edits.length || !!st.silent || st.file;
    undo.hidden = !st.view.edited || past;
    edit.disabled = none;
    edit.hidden = st.file || st.book.recording;
    copy.disabled = !!st.silent && !st.file;
    const names = st.view.edits.map(([, label]) => label.toLowerCase()).join(", ");
    edit.title = past ? "A past stop can be looked at; Rewind here to edit it" : none ? locked || "There is nothing to edit at this stop" : `Edit ${names} (e)`;
    if (!st.book.against) against.querySelector("button").textContent = past ? "stop before" : "last pause";
  }
  return {
    el, past: true,
    edit(what) { if (!edit.disabled) begin(what); },
    key(e) {
      if (ed.open) return false;
      if (e.key === "e" && !edit.disabled) begin();
      else if (e.key === "c" && !copy.disabled) opened(true);
      else if (e.key === "u" && st.view.edited) undo.click();
      else if (e.key === "j" || e.key === "k") jumpToChange(e.key === "j" ? 1 : -1);
      else return false;
      return true;
    },
    draw(what, m) {
      more.stop = app.ui.look ? app.ui.look.stop : undefined;
      drawBar();
      if (what === "view" || what === "show") text(flash, st.view.edited && !app.ui.look ? "Edited: the run goes on with what stands here." : "");
      if (what === "text" && m.why === "copy") paste(m);
      if (/^(form|text|problem|applied)$/.test(what)) { if (what !== "text" || m.why === "edit") ed.take(what, m); }
      if (what === "page" && m.name === "Request") {
        if ((m.stop ?? undefined) !== more.stop) return; // of a stop that is no longer looked at
        text(sum, m.sum || ""); sum.disabled = !/change/.test(m.sum) || /^No/.test(m.sum); jumped = -1;
      }
      page.draw(what, m);
    },
  };
}
