// Bytes as areas: the greatest first and near to squares, or in an order and in lines.

import { notice, replace, s } from "./dom.js";
import { fitted } from "./text-width.js";
import { bytes } from "./values.js";

const fontSize = 12;
const titleHeight = 18;

/** The key of an item, on its area and on its row. */
export function itemKey({ group, name }) {
  return `${group ?? ""}.${name}`;
}

/** "Post.title", or the entity alone for what its objects take beside their properties. */
export function itemTitle({ group, name, isWhole }) {
  return group && !isWhole ? `${group}.${name}` : name;
}

/**
 * Draws the items; `isWhole` is false while bytes are still being counted. Those that are in order
 * follow each other like the words of a text.
 */
export function drawTreemap(element, items, { isWhole, inOrder }) {
  const { clientWidth: width, clientHeight: height } = element;
  if (width === 0 || height === 0) return;
  if (items.every((each) => each.size === 0)) {
    replace(element, isWhole ? notice("", "Nothing here", "No bytes are counted for this.")
      : notice("loading", null, "Counting…"));
    return;
  }
  const names = [...new Set(items.map((each) => each.group))];
  const boxes = names.every((each) => each === undefined)
    ? (inOrder ? lines : squarify)(items, 0, 0, width, height).map(box)
    : squarify(names.map((name) => group(name, items)), 0, 0, width, height).map(groupBoxes);
  replace(element, s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, boxes));
}

function group(name, items) {
  const members = items.filter((each) => each.group === name);
  return { name, members, size: members.reduce((sum, each) => sum + each.size, 0) };
}

/** The areas of a group, below its title if there is room for it. */
function groupBoxes({ name, members, size, x, y, width, height }) {
  const hasTitle = height > 40 && width > 50;
  const space = hasTitle ? titleHeight : 0;
  return [
    hasTitle && s("text", { class: "group-title", x: x + 5, y: y + 13 },
      fitted(`${name} ${bytes(size)}`, width - 10, fontSize)),
    squarify(members, x, y + space, width, height - space).map(box),
    s("rect", { class: "group-border", x, y, width, height }),
  ];
}

function box({ x, y, width, height, ...item }) {
  const { hue, name, size, remark } = item;
  const hasName = width > 44 && height > 18;
  const shown = (text) => fitted(text, width - 10, fontSize);
  return s("g", { class: `box hue-${hue}`, "data-name": itemKey(item) },
    s("rect", {
      x: x + 0.5, y: y + 0.5, width: Math.max(0.5, width - 1), height: Math.max(0.5, height - 1),
    }),
    s("title", {}, `${itemTitle(item)}: ${bytes(size)}${remark ? `, ${remark}` : ""}`),
    hasName && s("text", { x: x + 6, y: y + 15 }, shown(name)),
    hasName && height > 34
      && s("text", { class: "size", x: x + 6, y: y + 30 }, shown(bytes(size))));
}

/** Places items with a `size` into a rectangle; each gets x, y, width and height. */
function squarify(items, x, y, width, height) {
  const sum = items.reduce((total, each) => total + each.size, 0);
  if (sum <= 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / sum;
  const rest = items.filter((each) => each.size > 0);
  rest.sort((first, second) => second.size - first.size);
  const placed = [];
  const area = { x, y, width, height };
  while (rest.length > 0) {
    const side = Math.min(area.width, area.height);
    const row = [];
    let length = 0;
    while (rest.length > 0) {
      const next = rest[0].size * scale;
      const isWorse = row.length > 0
        && worst([...row, next], length + next, side) > worst(row, length, side);
      if (isWorse) break;
      row.push(next);
      length += next;
      placed.push({ ...rest.shift(), area: next });
    }
    layRow(placed.slice(-row.length), length, area);
  }
  return placed;
}

/** Places items in their order, in lines of about the same height as wide as the rectangle. */
function lines(all, x, y, width, height) {
  const items = all.filter((each) => each.size > 0);
  const sum = items.reduce((total, each) => total + each.size, 0);
  const count = Math.max(1, Math.round(Math.sqrt((items.length * height) / width)));
  const rows = Array.from({ length: count }, () => []);
  let before = 0;
  for (const each of items) {
    const row = Math.floor(((before + each.size / 2) / sum) * count);
    rows[row].push({ ...each, area: (each.size * width * height) / sum });
    before += each.size;
  }
  const area = { x, y, width, height };
  for (const row of rows) {
    layRow(row, row.reduce((total, each) => total + each.area, 0), area, { isColumn: false });
  }
  return rows.flat();
}

/** The worst proportion among the rectangles of a row. */
function worst(areas, sum, side) {
  const greatest = Math.max(...areas);
  const least = Math.min(...areas);
  return Math.max((side * side * greatest) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Lays a row, along the shorter side if nothing else is said, and takes it off the area. */
function layRow(row, sum, area, { isColumn = area.width >= area.height } = {}) {
  if (isColumn) {
    const width = sum / area.height;
    let y = area.y;
    for (const each of row) {
      const height = each.area / width;
      Object.assign(each, { x: area.x, y, width, height });
      y += height;
    }
    area.x += width;
    area.width -= width;
  } else {
    const height = sum / area.width;
    let x = area.x;
    for (const each of row) {
      const width = each.area / height;
      Object.assign(each, { x, y: area.y, width, height });
      x += width;
    }
    area.y += height;
    area.height -= height;
  }
}
