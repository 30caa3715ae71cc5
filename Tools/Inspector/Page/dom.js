// Elements from values. Everything that comes from a store becomes a text node, never markup.

const svgSpace = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes that begin with "on" are listeners; null and false are left out. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}

const shownByBrowser = new Set(["title", "aria-label", "aria-valuetext", "placeholder"]);

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") setStyle(element, value);
    else if (key === "value" && "value" in element) element.value = value;
    else if (key === "checked") element.checked = true;
    else element.setAttribute(key, value === true ? "" : shownByBrowser.has(key) ? escaped(String(value)) : String(value));
  }
  append(element, children);
  return element;
}

/** Sets style properties by the object model, which the content policy permits. */
export function setStyle(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    element.style.setProperty(name, typeof value === "number" ? `${value}px` : value);
  }
}

/** Appends nodes and texts; arrays are flattened, null and false are left out. */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...visible(String(child), element));
  }
}

/** Controls that act on the page or cannot be seen: all but tab and newline, and the marks of direction. */
const invisible = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069])/;
const everyInvisible = new RegExp(invisible, "g");
const escape = (letter) => `\\u{${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}}`;

/** A text with its controls escaped, for attributes. */
export function escaped(text) {
  return text.replace(everyInvisible, escape);
}

/** A text as nodes, its controls escaped and marked. */
function visible(text, element) {
  if (!invisible.test(text)) return [text];
  const isPlain = element.namespaceURI === svgSpace || element.tagName === "OPTION";
  return isPlain ? [escaped(text)] : text.split(invisible).map((part, place) =>
    (place % 2 ? h("span", { class: "control" }, escape(part)) : part));
}

/** Replaces what an element holds. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** The notice for nothing, for waiting, or for a failure. */
export function notice(kind, title, text, ...more) {
  return h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" },
    title && h("strong", {}, title), text, ...more);
}

/** Calls a function once the calls have paused for some milliseconds. */
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

/** A function that runs at most once per frame, with the newest values. */
export function perFrame(action) {
  let waiting = null;
  return (...values) => {
    if (waiting === null) requestAnimationFrame(() => {
      const latest = waiting;
      waiting = null;
      action(...latest);
    });
    waiting = values;
  };
}

/** Calls back with the width and height of an element, at once and when they change. */
export function observeSize(element, action) {
  const observer = new ResizeObserver(perFrame(() => {
    if (element.isConnected) action(element.clientWidth, element.clientHeight);
  }));
  observer.observe(element);
  return () => observer.disconnect();
}
