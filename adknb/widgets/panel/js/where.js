// ---- Where: the agents and one step of the Flow, laid out by Graphviz in the kernel, drawn here in the theme's colours

const toNode = named("id x y w h label sub looks tip key");
const toEdge = named("tail head looks label lx ly points way");

/** A graph: lines as SVG, boxes as buttons with one tab stop; arrow keys go to the nearest box on that side. */
function graph(app, name, pick) {
  const lines = s("svg.ge"), box = h("div.g", { role: "group", label: name }, lines), el = h("div.gbox", { tabindex: "0", role: "group", label: name + ", scrolls" }, box);
  let nodes = [], now = null;
  function head(points, k, step) { // a triangle at an end of a curve, which stops ten points before the box
    const at = (i) => [points[i * 2], points[i * 2 + 1]], [bx, by] = at(k);
    let j = k + step;
    while (j > 0 && j < points.length / 2 - 1 && Math.abs(at(j)[0] - bx) + Math.abs(at(j)[1] - by) < 0.5) j += step;
    const [ax, ay] = at(j), d = Math.hypot(bx - ax, by - ay) || 1, x = (bx - ax) / d, y = (by - ay) / d;
    return `M${bx + 9 * x} ${by + 9 * y}L${bx - 3.5 * y} ${by + 3.5 * x}L${bx + 3.5 * y} ${by - 3.5 * x}Z`;
  }
  function draw(g) {
    const focus = box.contains(document.activeElement) && now, [W, Hh] = g.size;
    box.style.width = W + 4 + "px"; box.style.height = Hh + 4 + "px";
    put(lines, { width: W + 4, height: Hh + 4, viewBox: `-2 -2 ${W + 4} ${Hh + 4}` });
    fill(lines, g.edges.map(toEdge).map((e) => {
      const p = e.points, c = "e " + e.looks, last = p.length / 2 - 1;
      return [s("path", { class: c, d: `M${p[0]} ${p[1]}C${p.slice(2).join(" ")}` }), /forward|both/.test(e.way) && s("path", { class: c + " tip", d: head(p, last, -1) }), /back|both/.test(e.way) && s("path", { class: c + " tip", d: head(p, 0, 1) }), e.label && s("text", { class: c, x: e.lx, y: e.ly }, e.label)];
    }));
    const all = g.nodes.map(toNode);
    nodes = all.map((n) => {
      const looks = n.looks.split(" "), state = looks.includes("here") ? `present${looks.includes("before") ? ", before" : looks.includes("after") ? ", after" : ""}` : looks.includes("done") ? "done" : looks.includes("next") ? "to come" : "";
      const b = button(".gn", { class: n.looks, label: [n.label, n.sub, state, looks.includes("noop") && "nothing happens here"].filter(Boolean).join(", "), title: n.tip, "aria-current": looks.includes("here") ? "step" : null, tabindex: "-1", onclick: () => choose(n), onfocus: () => choose(n), onmouseenter: () => pick(n, true), onmouseleave: () => pick(null, true) },
        h("span.gl1", looks.includes("done") && icon("confirm"), looks.includes("here") && icon("play"), h("span.tx", n.label)), n.sub && h("span.gl2", n.sub));
      b.style.cssText = `left:${n.x - n.w / 2}px;top:${n.y - n.h / 2}px;width:${n.w}px;height:${n.h}px`;
      return { n, b };
    });
    fill(box, lines, nodes.map((x) => x.b));
    const stop = nodes.find((x) => now && x.n.id === now.id) || nodes.find((x) => /\bhere\b/.test(x.n.looks)) || nodes[0];
    if (stop) { stop.b.tabIndex = 0; if (focus) stop.b.focus(); }
    return stop && stop.n;
  }
  function choose(n) { now = n; nodes.forEach((x) => (x.b.tabIndex = x.n.id === n.id ? 0 : -1)); pick(n); }
  const single = (id) => nodes.forEach((x) => x.b.classList.toggle("sel", x.n.id === id));
  box.addEventListener("keydown", (e) => {
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key] || [0, 0], from = nodes.find((x) => x.b === e.target);
    if (from && (dx || dy)) {
      const far = (x) => { const a = (x.n.x - from.n.x) * (dx || 0) + (x.n.y - from.n.y) * (dy || 0), b = Math.abs((x.n.x - from.n.x) * dy) + Math.abs((x.n.y - from.n.y) * dx); return a <= 2 ? Infinity : a + 2 * b; };
      const to = nodes.reduce((best, x) => (far(x) < far(best) ? x : best), from);
      taken(e);
      to.b.focus();
    } else if (from && (e.key === "Home" || e.key === "End")) { taken(e); nodes[e.key === "Home" ? 0 : nodes.length - 1].b.focus(); }
    else if (from && e.key === "." && from.n.key.includes(":")) { taken(e); flip(app, from.n.key); }
  });
  return { el, draw, single };
}

function whereView(app) {
  const st = app.st, why = h("div.why", { role: "status" });
  let chosen = null, kind = "";
  const agents = graph(app, "Agents", (n, passing) => point(n, "agent", passing)), flowing = graph(app, "One step of the Flow", (n, passing) => point(n, "stage", passing));
  const figure = (title, g, legend) => h("figure", h("figcaption", h("b", title), mut(" ", legend)), g.el);
  const el = h("section.wh", h("div.page.graphs", { tabindex: "0", role: "group", label: "Where we are" }, figure("Agents", agents, "a head: may hand over that way; dashed: has not spoken"), figure("One step of the Flow", flowing, "ticked: done; dashed: nothing happens there")), why);
  function point(n, what, passing) { if (!passing) { chosen = n; kind = what; } tell(passing && n ? n : chosen, passing && n ? what : kind); }
  function tell(n, what) {
    agents.single(chosen && chosen.id); flowing.single(chosen && chosen.id);
    if (!n) return fill(why, h("p.mut", "Point at an agent or a stage, or use the arrow keys."));
    if (what === "agent") {
      const a = st.view.agents.find((x) => x.name === n.key);
      return fill(why, h("div.w1", who(app, n.key), mut(n.sub), gap(), a && button(".b", { title: "What this agent's next request would hold", onclick: () => app.contents({ agent: a.name, branch: a.branch, scope: a.scope }, app.ui.ev) }, "Contents"), button(".b", { onclick: () => app.tab("Branches") }, "Branches")), ...n.tip.split("; ").slice(1).map((t) => h("p", t)));
    }
    const k = st.book.stages.findIndex((g) => g.key === n.key || (n.key.startsWith("stage:") && g.key === { "stage:tool_declaration": "stage:declare", "stage:tool": "stage:tools" }[n.key])), g = st.book.stages[k], stops = n.key.includes(":"), yes = stops && marked(app, n.key);
    fill(why, h("div.w1", h("b", n.label), mut(n.looks.includes("noop") ? "nothing happens here" : ""), gap(), stops && app.can() && button(".b", { onclick: () => app.send({ type: "until", at: n.key }) }, "Run to here"), stops && st.book.breakpoints && button(".b", { pressed: yes, onclick: () => flip(app, n.key) }, yes ? "Remove breakpoint" : "Break here"), k >= 0 && button(".b", { onclick: () => app.stage(g.id) }, "Source")),
      h("p", g ? g.says : n.tip), g && h("p", h("code.mut", g.go)));
  }
  return { el, draw(what, m) {
    if (what === "view" || what === "show") { app.send({ type: "where" }); tell(chosen, kind); }
    if (what === "where") {
      agents.draw(m.agents);
      const here = flowing.draw(m.flow);
      if (!chosen && here) { chosen = here; kind = "stage"; }
      const all = [...m.agents.nodes, ...m.flow.nodes].map(toNode);
      if (chosen) chosen = all.find((n) => n.id === chosen.id) || chosen;
      tell(chosen, kind);
    }
  } };
}
