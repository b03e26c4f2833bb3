// ---- Live: two lanes, to the model and from it, in the order in which things passed; sound as a waveform that can be played

const WAVE = [96, 26]; // the box that the kernel draws a waveform in
const TICKS = 6;
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
  /** When things passed, to scale: two lanes of marks, a sound as long as it sounds. A press goes to the row. */
  function axis(rows) {
    const until = (r) => r.at + ((r.sound || {}).seconds || 0), start = rows[0].at;
    const end = rows.reduce((most, r) => Math.max(most, until(r)), start + 0.01), x = (t) => `${(90 * (t - start)) / (end - start) + 5}%`;
    const rough = (end - start) / TICKS, ten = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((k) => k * ten >= rough) * ten;
    const ticks = Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, k) => k * step);
    const bar = (r, i) => s("rect", {
      class: cls(r.way, r.marked && "marked"), x: x(r.at), y: r.way === "from" ? 16 : 2, height: r.way === "dial" ? 26 : 12,
      width: r.sound ? `${(90 * (until(r) - r.at)) / (end - start)}%` : 2, onclick: () => body.querySelectorAll(".msg")[i].scrollIntoView({ block: "center" }),
    }, s("title", `${r.kind.replaceAll("_", " ")}, ${r.at.toFixed(2)} s`));
    return s("svg.axis", s("path", { d: "M0 15h9999M0 29h9999" }), ticks.map((t) => [s("line", { x1: x(start + t), x2: x(start + t), y1: 0, y2: 32 }),
      s("text", { x: x(start + t), y: 42 }, `${t ? "+" : ""}${+t.toFixed(4)} s`)]), rows.map(bar));
  }
  const heads = () => h("div.lane", h("span", "stop"), h("b", "to the model →"), h("b", "← from the model"));
  return { el, draw(what, m) {
    if (/view|show/.test(what)) app.send({ type: "page", name: "Live" });
    if (what === "absent" && m.to.type === "page" && m.to.name === "Live") fill(body, h("p.mut", notHere(app)));
    if (what !== "page" || m.name !== "Live") return;
    const end = body.scrollTop + body.clientHeight > body.scrollHeight - 40, top = body.scrollTop;
    fill(body, h("div", m.lanes.length ? [h("div.hd2", axis(m.lanes), heads()), m.lanes.map(row)] : h("p.mut", "Nothing has passed yet.")));
    body.scrollTop = end ? body.scrollHeight : top; // whoever stands at the end stays there
  } };
}
