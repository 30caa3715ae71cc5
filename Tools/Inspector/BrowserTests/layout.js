// Facts about the layout of what is shown. Returns a list of texts, one for each fault.
const faults = [];
const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const name = (element) => {
  const kind = element.getAttribute?.("class") ?? "";
  return `${element.tagName.toLowerCase()}${kind ? `.${kind.trim().split(/\s+/).join(".")}` : ""}`;
};
const brief = (text) => JSON.stringify(text.trim().slice(0, 40));

// Nothing overflows sideways.
const root = document.documentElement;
if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} px wide in ${innerWidth}`);
const clip = (element) => {
  let box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  for (let parent = element; parent; parent = parent.parentElement) {
    const style = getComputedStyle(parent);
    if (style.display.startsWith("inline") && !style.display.includes("-")) continue;
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const own = parent.getBoundingClientRect();
    box = {
      left: Math.max(box.left, own.left), top: Math.max(box.top, own.top),
      right: Math.min(box.right, own.right), bottom: Math.min(box.bottom, own.bottom),
    };
  }
  return box;
};
for (const element of document.querySelectorAll("main, section, header, footer, nav, .column, .view, table, dl, .bar-line, .filters, .timeline-bar")) {
  const own = element.getBoundingClientRect();
  if (own.width > 0 && shown(element) && own.right > innerWidth + 1) faults.push(`${name(element)} reaches ${Math.round(own.right)} px`);
  const style = getComputedStyle(element);
  const isScroller = ["auto", "scroll"].includes(style.overflowX);
  if (isScroller && !element.matches(".grid, .schema-picture") && element.scrollWidth > element.clientWidth + 1) {
    faults.push(`${name(element)} scrolls sideways: ${element.scrollWidth} in ${element.clientWidth}`);
  }
}

// The texts that can be seen, line by line: what lies under another opaque element cannot.
const isSeen = (line) => {
  const { element } = line;
  if (element.namespaceURI.endsWith("svg")) return true;
  for (const hit of document.elementsFromPoint((line.left + line.right) / 2, (line.top + line.bottom) / 2)) {
    if (hit === element || element.contains(hit) || hit.contains(element)) return true;
    const alpha = /^rgba\(.*, ([\d.]+)\)$/.exec(getComputedStyle(hit).backgroundColor)?.[1] ?? 1;
    if (Number(alpha) > 0.5) return false;
  }
  return false;
};
const lines = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const element = node.parentElement;
  if (!node.textContent.trim() || !element || !shown(element) || element.closest("dialog, noscript, .hover, .unseen, option, title")) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const bounds = clip(element);
  for (const box of range.getClientRects()) {
    const line = {
      left: Math.max(box.left, bounds.left), right: Math.min(box.right, bounds.right),
      top: Math.max(box.top, bounds.top), bottom: Math.min(box.bottom, bounds.bottom), element, node,
    };
    if (line.right - line.left < 2 || line.bottom - line.top < 4) continue;
    if (isSeen(line)) lines.push(line);
  }
}

// No line of prose is wider than 30 em; commands, notices and code are no prose.
for (const { left, right, element, node } of lines) {
  if (element.closest("code, pre, .mono, .notice, [role=status]")) continue;
  const em = parseFloat(getComputedStyle(element).fontSize);
  if (right - left > 30 * em + 3) faults.push(`${name(element)} ${brief(node.textContent)} is ${((right - left) / em).toFixed(1)} em wide`);
}

// No text is squeezed into a column of a few letters.
const rectsOf = new Map();
for (const line of lines) rectsOf.set(line.node, [...(rectsOf.get(line.node) ?? []), line]);
for (const [node, all] of rectsOf) {
  const em = parseFloat(getComputedStyle(node.parentElement).fontSize);
  if (all.length > 3 && all.every((each) => each.right - each.left < 3.5 * em)) {
    faults.push(`${name(node.parentElement)} ${brief(node.textContent)} is squeezed into ${all.length} lines`);
  }
}

// What is wrong is told whole: no notice is cut off by what holds it.
for (const element of document.querySelectorAll(".notice, .bad, .opening")) {
  const own = element.getBoundingClientRect();
  const bounds = clip(element.parentElement);
  const isScrolled = element.closest(".column, .view, .finding-list, .menu-list");
  if (shown(element) && own.height > 0 && !isScrolled && (own.bottom > bounds.bottom + 1 || own.right > bounds.right + 1)) {
    faults.push(`${name(element)} ${brief(element.textContent)} is cut off`);
  }
}

// No text lies on another.
lines.sort((first, second) => first.top - second.top);
for (let i = 0; i < lines.length; i += 1) {
  for (let j = i + 1; j < lines.length && lines[j].top < lines[i].bottom - 4; j += 1) {
    const first = lines[i];
    const second = lines[j];
    const overlap = Math.min(first.right, second.right) - Math.max(first.left, second.left);
    const depth = Math.min(first.bottom, second.bottom) - Math.max(first.top, second.top);
    if (overlap > 3 && depth > 5 && first.node !== second.node) {
      faults.push(`${brief(first.node.textContent)} (${name(first.element)}) overlaps ${brief(second.node.textContent)} (${name(second.element)})`);
    }
  }
}

// Texts have a contrast of at least 4.5.
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const colors = new Map();
const rgba = (text) => {
  if (!colors.has(text)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    colors.set(text, [red, green, blue, alpha / 255]);
  }
  return colors.get(text);
};
const luminance = (color) => {
  const [red, green, blue] = color.slice(0, 3).map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const background = (line) => {
  const { element } = line;
  if (element.namespaceURI.endsWith("svg")) {
    for (const other of document.elementsFromPoint((line.left + line.right) / 2, (line.top + line.bottom) / 2)) {
      if (other.namespaceURI.endsWith("svg") && ["rect", "polygon", "path", "circle"].includes(other.tagName)) {
        const fill = rgba(getComputedStyle(other).fill);
        if (getComputedStyle(other).fill !== "none" && fill[3] > 0.9) return fill;
      }
    }
  }
  for (let parent = element; parent; parent = parent.parentElement) {
    const color = rgba(getComputedStyle(parent).backgroundColor);
    if (color[3] > 0.5) return color;
  }
  return [255, 255, 255, 1];
};
const told = new Set();
for (const line of lines) {
  const { element, node } = line;
  if (element.closest(":disabled")) continue;
  const style = getComputedStyle(element);
  const color = rgba(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
  const [light, dark] = [luminance(color), luminance(background(line))].sort((first, second) => second - first);
  const contrast = (light + 0.05) / (dark + 0.05);
  if (contrast < 4.5 && !told.has(name(element))) {
    told.add(name(element));
    faults.push(`${name(element)} ${brief(node.textContent)} has a contrast of ${contrast.toFixed(2)}`);
  }
}
return faults;
