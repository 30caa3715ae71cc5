// What the page shows is its address: #/view/part/part?at=412&where=…
// Parts and values are percent-encoded, so that keys may hold slashes.

const listeners = new Set();

/** The address of the page as { view, parts, query }. */
export function current() {
  return parse(location.hash);
}

export function parse(hash) {
  const text = hash.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  const [view = "", ...parts] = path.split("/").map(decode);
  const query = {};
  for (const [name, value] of new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1))) {
    query[name] = value;
  }
  return { view: view || "state", parts, query };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text of an address. Names of the query are in alphabetical order, empty values left out. */
export function format({ view, parts = [], query = {} }) {
  const path = [view, ...parts].map(encodeURIComponent).join("/");
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([name, value]) => `${name}=${encodeQuery(String(value))}`);
  return `#/${path}${pairs.length ? `?${pairs.join("&")}` : ""}`;
}

function encodeQuery(text) {
  return encodeURIComponent(text).replace(/%20/g, "+").replace(/%(3A|2C|2F|40|7B|7D)/gi, (code) =>
    decodeURIComponent(code));
}

/** What every view keeps when another is opened: the moment and the zoom of the slider. */
const lasting = ["at", "zoom", "axis", "store"];

/** An address of a view that keeps the moment. */
export function link(view, parts = [], query = {}) {
  const kept = {};
  const now = current().query;
  for (const name of lasting) if (now[name] !== undefined) kept[name] = now[name];
  return format({ view, parts, query: { ...kept, ...query } });
}

/** This view with some values of its query changed. */
export function changed(query, parts) {
  const now = current();
  return format({ view: now.view, parts: parts ?? now.parts, query: { ...now.query, ...query } });
}

/** A part of an axis in an address, A..B; null if the text is none. */
export function rangeOf(text) {
  const found = /^(-?\d+)\.\.(-?\d+)$/.exec(text ?? "");
  return found ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

/** Goes to an address. With `replacing`, the one shown now is not kept for going back. */
export function go(hash, { replacing = false } = {}) {
  if (hash === location.hash) return;
  if (replacing) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  tell();
}

/** Calls back at every change of the address. */
export function observe(listener) {
  listeners.add(listener);
}

function tell() {
  const address = current();
  for (const listener of listeners) listener(address);
}

let latest = location.hash;
addEventListener("popstate", () => {
  latest = location.hash;
  tell();
});
addEventListener("hashchange", () => {
  if (location.hash !== latest) {
    latest = location.hash;
    tell();
  }
});
