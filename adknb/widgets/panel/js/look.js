// ---- looking at a past stop: a view of it, while the run stands where it stands

function looking(app) {
  const st = app.st, says = h("span.lk-says"), why = h("span.mut"), back = button(".b", { onclick: () => app.lookAt(null) }, "Return");
  const title = "Bring the run back to this stop (Shift+Enter). Processors and callbacks run again, models and tools do not";
  const rewind = button(".b", { title, onclick: () => go() }, icon("back"), h("span", "Rewind here"));
  const slider = h("input", { type: "range", min: "0", label: "Stop to look at", oninput: () => app.lookAt(Number(slider.value)) });
  const el = h("div.looking", { hidden: true, role: "group", label: "Looking at a past stop" },
    h("div.lk1", says, gap(), back, rewind), h("div.lk2", slider), why);
  const go = () => { if (app.ui.look && st.book.rewind && !st.silent) app.send({ type: "rewind", stop: app.ui.look.stop }); };
  return {
    el, rewind: go,
    draw(past) {
      const l = app.ui.look;
      el.hidden = !l;
      if (!l) return;
      const last = st.view.runs - 1, at = l.at;
      slider.max = last; slider.value = l.stop;
      put(slider, { valuetext: at ? at.say : `Stop ${l.stop}` });
      const place = at ? ": " + [...at.crumb, `${at.name} ${at.phase}`].join(" › ") : "";
      fill(says, icon("eye"), "Looking at ", h("b", `stop ${l.stop}`), ` of ${num(last)}${place}`,
        mut(st.view.over ? ". The run is over." : `. The run stands at ${st.view.at.stop}.`));
      fill(why, l.why || "", past ? "" : " This tab stays at the present stop.");
      why.hidden = !why.textContent.trim();
      rewind.hidden = !st.book.rewind; rewind.disabled = !!st.silent || !!st.busy;
    },
  };
}
