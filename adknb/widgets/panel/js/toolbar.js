// ---- toolbar

function toolbar(app) {
  const { commands, breakpoints } = app.st.book, n = h("span.num"), live = h("span.vh", { role: "status" }), crumb = h("ol.crumb", { label: "Where the run stands" }), pop = h("div.pop", { hidden: true, role: "group", label: "Breakpoints" });
  const open = (yes) => { pop.hidden = !yes; put(marks, { expanded: yes }); };
  const marks = button(".cmd", { expanded: "false", title: "Breakpoints", onclick: () => open(pop.hidden) }, icon("break", "bp"), h("span", "Breakpoints"), " ", n);
  const cmds = commands.map(([id, name, key, what]) => button(".cmd." + id, { title: `${what} (${key})`, keyshortcuts: key, onclick: () => app.send({ type: id }) }, icon(id), h("span", name)));
  const bar = h("div.bar", { role: "toolbar", label: "Stepper" }, cmds, breakpoints && h("span.anchor", marks, pop), crumb, button(".cmd.keys", { title: "Keys (?)", label: "Keys", onclick: () => app.help() }, "?"), live), settle = roving(bar, ".cmd");
  bar.addEventListener("keydown", (e) => { if (e.key === "Escape" && !pop.hidden) { taken(e); open(false); marks.focus(); } });
  return { el: bar, draw() {
    const v = app.st.view, a = v.at;
    cmds.forEach((b, k) => {
      const off = v.over && !/^(back|restart)$/.test(commands[k][0]);
      if (off && b === document.activeElement) app.root.focus(); // keys must not fall through to the notebook
      b.disabled = off;
    });
    fill(crumb, a.crumb.map((t) => h("li", t)), h("li", h("b", a.name), a.phase && " " + a.phase), a.stop && h("li.mut", a.stop));
    text(live, [a.say, v.note, v.problem].filter(Boolean).join(" "));
    text(n, v.marks.length ? String(v.marks.length) : "");
    fill(pop, v.marks.map(([, words]) => h("div.li", icon("break", "bp"), h("code.tx", words), gap(), button("", { label: "Remove breakpoint " + words, onclick: () => app.send({ type: "break", words }) }, icon("out")))), h("p.mut", "Press . on a stage of the track or on a stop of the timeline."));
    settle();
  } };
}
