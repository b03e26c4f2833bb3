// ---- what has arrived

const named = (names) => (r) => Object.fromEntries(names.split(" ").map((k, i) => [k, r[i]]));
const toEvent = named("turn time author branch scope role kind text calls answers names tokens");
const toStop = named("d kind name note lanes at key noop who stage event first failed");
const toRow = named("a b fate pass to steps tag differs bars of");
const toItem = named("key from role kind text context n calls answers step");
const toStep = named("pass rule go why");
const stores = new WeakMap(); // all views of one model share a store

function storeOf(model) {
  if (stores.has(model)) return stores.get(model);
  const st = { book: model.get("book"), view: model.get("view"), stops: model.get("stops").map(toStop), events: model.get("rows").map(toEvent), subs: new Set() };
  let have = model.get("base"), asked = false;
  const take = {
    stops: (m) => { st.stops = [...st.stops.slice(0, m.at), ...m.rows.map(toStop)]; m.set.forEach(([i, r]) => (st.stops[i] = toStop(r))); },
    rows: (m) => { st.events = [...st.events.slice(0, m.at), ...m.rows.map(toEvent)]; asked = false; },
  };
  const tell = (what, m) => st.subs.forEach((f) => f(what, m));
  /** Messages that were sent before this module was loaded are lost: ask for what is missing. */
  const mend = () => { if (have !== st.view.sent && !asked) { asked = true; model.send({ type: "sync", rows: Math.min(st.events.length, st.view.nrows) }); } };
  model.on("msg:custom", (m) => {
    if (take[m.type]) {
      const length = (m.type === "stops" ? st.stops : st.events).length;
      if (m.at > length || (m.at && !asked && m.sent !== have + 1)) return mend(); // it builds on one that never came: the answer will hold it
      have = m.sent; take[m.type](m);
    }
    tell(m.type, m);
  });
  model.on("change:view", () => {
    const v = (st.view = model.get("view"));
    if (st.stops.length > v.nstops) st.stops.length = v.nstops;
    if (st.events.length > v.nrows) st.events.length = v.nrows;
    mend();
    tell("view");
  });
  stores.set(model, st);
  mend();
  return st;
}
