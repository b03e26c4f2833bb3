// ---- answers from a file: what an exported panel has in the place of a kernel (not part of the widget's module)
//
// data   pool      values that several answers share; { "@": n } stands for the n-th, [true, x] in the pool for x as it is
//        answers   [question, answer]
//        events    the stored events as JSON
//        unfolded  the picture of the contents with every turn unfolded, where a session is so long that turns are folded

const CONTENTS = 6; // of an item: how many contents it stands for

function answersOf(data) {
  const known = new Map(data.answers.map(([question, answer]) => [questionOf(question), answer]));
  const values = new Map();
  function whole(x) {
    if (Array.isArray(x)) return x.map(whole);
    if (!x || x.constructor !== Object) return x;
    if ("@" in x) {
      if (!values.has(x["@"])) { const [raw, value] = data.pool[x["@"]]; values.set(x["@"], raw ? value : whole(value)); }
      return values.get(x["@"]);
    }
    return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, whole(v)]));
  }
  const answer = (question) => { const found = known.get(questionOf(question)); return found && whole(found); };
  const own = answer({ type: "assemble", viewer: null, open: [] }) || {};
  const isOwn = (viewer) => !viewer || questionOf({ viewer }) === questionOf({ viewer: own.viewer });
  let unfolded = null;

  return (m) => {
    if (m.type === "row") return data.events[m.i] && { type: "row", i: m.i, json: data.events[m.i] };
    if (m.type !== "assemble") return answer(m);
    const mine = isOwn(m.viewer), folded = answer({ ...m, viewer: mine ? null : m.viewer, open: [] });
    if (!mine || !folded || !folded.rows || !m.open.length || !data.unfolded) return folded;
    unfolded ||= whole(data.unfolded);
    return withTurnsOpened(folded, unfolded, new Set(m.open));
  };
}

/** The folded picture with some turns unfolded; both pictures come from the kernel, here they are only put together. */
function withTurnsOpened(folded, all, opened) {
  const rows = [], rowOf = new Map(), steps = [...folded.steps], stepAt = new Map(steps.map((step, k) => [JSON.stringify(step), k]));
  const step = (k) => {
    const key = JSON.stringify(all.steps[k]);
    if (!stepAt.has(key)) { stepAt.set(key, steps.length); steps.push(all.steps[k]); }
    return stepAt.get(key);
  };
  const closed = new Set(); // first events of the rows that stay folded
  for (const row of folded.rows) {
    const [first, end] = row, isFolded = end - first > 1;
    for (let i = first; i < end; i++) rowOf.set(i, rows.length + (isFolded && !opened.has(first) ? 0 : i - first));
    if (isFolded && !opened.has(first)) { closed.add(rows.length); rows.push(row); continue; }
    for (let i = first; i < end; i++) {
      const [, , fate, pass, to, its, tag, differs, bars] = all.rows[i];
      rows.push([i, i + 1, fate, pass, to, its.map(step), tag, differs, bars, isFolded ? first : -1]);
    }
  }
  const items = [], itemAt = new Map();
  const item = (x) => {
    const key = JSON.stringify(x);
    if (!itemAt.has(key)) { itemAt.set(key, items.length); items.push(x); }
    return itemAt.get(key);
  };
  const lists = all.lists.map((list) => {
    const order = new Map(); // an item, or a folded row with what stands for it
    for (const k of list) {
      const [key, from, ...rest] = all.items[k], own = rowOf.get(parseInt(key, 10));
      if (own !== undefined && closed.has(own)) {
        const held = order.get(own);
        if (held) held[CONTENTS] += 1;
        else order.set(own, ["u" + rows[own][0], [own], rest[0], "", null, false, 1, [], [], -1]);
        continue;
      }
      const to = [...new Set(from.map((i) => rowOf.get(i)))].sort((a, b) => a - b);
      order.set("i" + k, [key, to, ...rest.slice(0, -1), rest.at(-1) < 0 ? -1 : step(rest.at(-1))]);
    }
    return [...order.values()].map(item);
  });
  return { ...folded, rows, steps, items, lists };
}
