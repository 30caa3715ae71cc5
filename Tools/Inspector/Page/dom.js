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

/** A button; attributes may name it or give it a class. */
export function button(text, onclick, attributes) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** A button without a border. */
export function plainButton(text, onclick, attributes) {
  return button(text, onclick, { class: "plain", ...attributes });
}

/** Gives a select its options; a chosen value that is none of them is added. */
export function setOptions(select, first, values, chosen) {
  const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
  replace(select, first !== undefined && h("option", { value: "" }, first),
    all.map((each) => h("option", { value: each }, each.replace(/^`(.*)`$/, "$1"))));
  select.value = chosen ?? "";
}

/** A field follows the address: it gets the text when that has changed, and keeps what is typed in between. */
export function followAddress(field, text) {
  const now = text ?? "";
  if (field.followed === now) return;
  field.followed = now;
  if (field.value.trim() !== now) field.value = now;
}

/** Marks an element of a list as the one that is shown, or not. */
export function setCurrent(element, isCurrent) {
  if (isCurrent) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
}

/** Gives a class to the elements that are meant, and brings one into view that had it not. */
export function markIn(elements, name, isMeant) {
  for (const each of elements) {
    const isMarked = isMeant(each);
    if (isMarked && !each.classList.contains(name)) each.scrollIntoView({ block: "nearest" });
    each.classList.toggle(name, isMarked);
  }
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

/** Calls back when the end of a scrolling element is some pixels from view, or nearer. */
export function observeEnd(scroller, end, distance, action) {
  const observer = new IntersectionObserver((entries) => {
    if (entries.some((each) => each.isIntersecting)) action();
  }, { root: scroller, rootMargin: `${distance}px` });
  observer.observe(end);
  return () => observer.disconnect();
}
