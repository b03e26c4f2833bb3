// ---- toolbar: commands, breakpoints, where the run stands; and what takes long

function toolbar(app) {
  const { commands, breakpoints } = app.st.book;
  const n = h("span.num"), live = h("span.vh", { role: "status" }), crumb = h("ol.crumb", { label: "Where the run stands" });
  const pop = h("div.pop", { hidden: true, role: "group", label: "Breakpoints" });
  const open = (yes) => { pop.hidden = !yes; put(marks, { expanded: yes }); };
  const marks = button(".cmd", { expanded: "false", title: "Breakpoints", onclick: () => open(pop.hidden) },
    icon("break", "bp"), h("span", "Breakpoints"), " ", n);
  const cmds = commands.map(([id, name, key, what]) =>
    button(".cmd." + id, { title: `${what} (${key})`, keyshortcuts: key, onclick: () => app.send({ type: id }) }, icon(id), h("span", name)));
  const bar = h("div.bar", { role: "toolbar", label: "Stepper" }, cmds, breakpoints && h("span.anchor", marks, pop), crumb,
    button(".cmd.keys", { title: "Keys (?)", label: "Keys", onclick: () => app.help() }, "?"), live);
  const settle = roving(bar, ".cmd");
  bar.addEventListener("keydown", (e) => { if (e.key === "Escape" && !pop.hidden) { taken(e); open(false); marks.focus(); } });

  /** Commands cannot be given when the run is over or nobody is there to take them; going back can, when it is over. */
  function disable() {
    const v = app.st.view;
    cmds.forEach((b, k) => {
      const off = !!app.st.silent || !!app.st.busy || (v.over && !/^(back|restart)$/.test(commands[k][0]));
      if (off && b === document.activeElement) app.root.focus(); // keys must not fall through to the notebook
      b.disabled = off;
    });
  }
  return {
    el: bar, disable,
    draw() {
      const v = app.st.view, a = v.at;
      disable();
      fill(crumb, a.crumb.map((t) => h("li", t)), h("li", h("b", a.name), a.phase && " " + a.phase), a.stop && h("li.mut", a.stop));
      text(live, [a.say, v.note, v.problem].filter(Boolean).join(" "));
      text(n, v.marks.length ? String(v.marks.length) : "");
      fill(pop, v.marks.map(([, words]) => h("div.li", icon("break", "bp"), h("code.tx", words), gap(),
        button("", { label: "Remove breakpoint " + words, onclick: () => app.send({ type: "break", words }) }, icon("out")))),
        h("p.mut", "Press . on a stage of the track or on a stop of the timeline."));
      settle();
    },
  };
}

/** A strip for a command that takes long: how far it has come, and a way to stop it. */
function progress(app, over) {
  const st = app.st, says = h("span.tx"), bar = h("div.pbar", h("i"));
  const halt = button(".b", { onclick: () => stop() }, icon("stop"), h("span", "Stop"));
  const el = h("div.busy", { hidden: true, role: "status" }, bar, says, gap(), halt);
  let asked = 0, timer = 0;
  /** First at the next stop; if that does not come, in the middle of what runs. */
  function stop() {
    const now = asked && Date.now() - asked > 1500;
    model("stop", now);
    asked ||= Date.now();
    draw();
  }
  const model = (type, now) => app.send({ type, now });
  function draw() {
    const b = st.busy, stale = !b || Date.now() - b.seen > 3000;
    el.hidden = stale || !!st.silent;
    clearTimeout(timer);
    if (el.hidden) {
      asked = 0;
      if (b && stale) { st.busy = null; over(); } // its end was never heard of
      return;
    }
    const late = asked && Date.now() - asked > 1500;
    const name = (st.book.commands.find((c) => c[0] === b.what) || [])[1] || b.what;
    const stopping = late ? "; it has not come to a stop yet" : asked ? "; stops at the next one" : "";
    text(says, `${name}: ${num(b.stops)} stops, ${b.seconds.toFixed(1)} s, now ${b.at}${stopping}`);
    text(halt.lastChild, late ? "Stop now" : "Stop");
    put(halt, { title: late ? "Break off what is running; the run goes back to where this command began" : "Stop at the next stop (Esc)" });
    timer = setTimeout(draw, 3200);
  }
  return { el, stop, draw };
}
