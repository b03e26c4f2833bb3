// The living form of a question's card: draws `view`, sends wishes. Text only ever goes in by textContent.
const el = (tag, attrs = {}, ...inside) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== "") made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...inside);
  return made;
};

// a text with `code` in it, as nodes
const marked = (text) => text.split("`").map((piece, k) => (k % 2 ? el("code", {}, piece) : piece));

function render({ model, el: host }) {
  const root = el("section", { class: "adkcard", "data-lm-suppress-shortcuts": "true" }); // JupyterLab's keys stay out
  const live = el("div", { class: "live", role: "status" });
  host.append(root);
  root.addEventListener("keydown", (pressed) => {
    if (pressed.key === "Escape" || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
    pressed.stopPropagation(); // arrows move among the options, and not to the next cell
    const option = pressed.key.length === 1 && root.querySelector(`input[value="${CSS.escape(pressed.key.toLowerCase())}"]`);
    if (option) { option.focus(); option.click(); }
  });
  let number = 0;

  const wish = (what) => {
    if (model.widget_manager?.kernel === null || model.comm_live === false) {
      live.textContent = model.get("view").dead;
      return;
    }
    model.send(what);
  };

  const ask = (view) => {
    const group = `${view.name}-${number++}`;
    const rows = view.options.map(([key, text]) =>
      el("label", {},
        el("input", { type: "radio", name: group, value: key, onchange: () => wish({ type: "choose", key }) }),
        el("b", {}, key), el("span", {}, ...marked(text))));
    const set = el("fieldset", {}, el("legend", {}, el("span", { class: "quiet" }, view.head), ...marked(view.ask)), ...rows);
    for (const input of set.querySelectorAll("input")) input.checked = input.value === view.chosen;
    live.textContent = view.noted;
    const hints = view.hints.map((text) => el("p", { class: "hint" }, ...marked(text)));
    const more = view.hint ? [el("button", { type: "button", "data-wish": "hint", onclick: () => wish({ type: "hint" }) }, view.hint)] : [];
    return [set, ...hints, el("div", { class: "foot" }, ...more, live)];
  };

  const reveal = (view) => {
    live.textContent = "";
    const body = view.lines.map(([kind, text]) => el(kind === "seen" ? "pre" : "p", { class: kind, "aria-label": kind === "seen" ? view.seen : "" }, ...(kind === "seen" ? [text] : marked(text))));
    const fold = el("details", { open: view.lines.length > 0 }, el("summary", {}, view.head), ...body);
    fold.addEventListener("toggle", () => fold.open && !view.lines.length && wish({ type: "open" }));
    return [fold, live];
  };

  const draw = () => {
    const view = model.get("view");
    const focus = root.contains(document.activeElement) && document.activeElement;
    const kept = focus && (focus.value ? `input[value="${CSS.escape(focus.value)}"]` : focus.dataset.wish ? "[data-wish]" : focus.tagName.toLowerCase());
    root.replaceChildren(...(view.kind === "ask" ? ask(view) : reveal(view)));
    if (kept) (root.querySelector(kept) ?? root.querySelector("input:checked, summary"))?.focus();
  };

  model.on("change:view", draw);
  draw();
  return () => model.off("change:view", draw);
}

export default { render };
