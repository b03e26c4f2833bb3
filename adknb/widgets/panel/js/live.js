// ---- Live: two lanes, to the model and from it, in the order in which things passed; sound as a waveform that can be played

const WAVE = [96, 26]; // the box that the kernel draws a waveform in
function liveView(app) {
  const body = h("div.page.lanes", { tabindex: "0", role: "group", label: "Live" }), el = h("section", body), players = new Map();
  const waveform = (d) => s("svg.wave", { viewBox: `0 0 ${WAVE[0]} ${WAVE[1]}`, preserveAspectRatio: "none" }, s("path", { d }));
  /** A player is kept as long as its sound is the same: a step must not stop what is heard. */
  function player(src, key) {
    const old = players.get(key);
    if (old && old.getAttribute("src") === src) return old;
    const made = h("audio", { preload: "none", src, label: "Play" });
    made.controls = true; // as an attribute it would become aria-controls
    players.set(key, made);
    return made;
  }
  function cell(r, i) {
    const made = r.sound || {};
    return h("div.msg", { class: cls(r.way, r.marked && "marked") },
      h("div.kd", r.marked && icon("warn", "bad"), h("b", r.kind.replaceAll("_", " ")), gap(), mut(`${r.at.toFixed(2)} s`)),
      r.says && h("div.sy", r.says), made.path && waveform(made.path), made.src && player(made.src, i));
  }
  const row = (r, i) => h("div.lane", { class: r.way },
    button(".lk.st", { title: "Look at this stop", onclick: () => app.lookAt(r.stop) }, String(r.stop)), cell(r, i));
  const heads = () => h("div.lane.hd2", h("span", "stop"), h("b", "to the model →"), h("b", "← from the model"));
  return { el, draw(what, m) {
    if (/view|show/.test(what)) app.send({ type: "page", name: "Live" });
    if (what === "absent" && m.to.type === "page" && m.to.name === "Live") fill(body, h("p.mut", notHere(app)));
    if (what !== "page" || m.name !== "Live") return;
    const end = body.scrollTop + body.clientHeight > body.scrollHeight - 40, top = body.scrollTop;
    fill(body, h("div.two", heads(), m.lanes.length ? m.lanes.map(row) : h("p.mut", "Nothing has passed yet.")));
    body.scrollTop = end ? body.scrollHeight : top; // whoever stands at the end stays there
  } };
}
