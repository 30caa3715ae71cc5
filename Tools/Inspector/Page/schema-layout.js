// Where the entities of a schema lie in its picture: layers by reference, from referrers to what they refer to.

import { replace, s, setStyle } from "./dom.js";
import { loopRoom, route } from "./schema-routes.js";

const gap = 28;
const margin = 16;

/** Puts the cards into columns; returns the size of all. Each card gets x, y, width and height. */
export function arrange(cards, width, viewHeight) {
  const layers = layersOf(cards);
  const cardWidth = cards[0].element.offsetWidth;
  const room = width - margin * 2 - loopRoom - layers.length * cardWidth;
  const columnGap = Math.max(56, Math.min(150, room / Math.max(1, layers.length - 1)));
  const tallest = Math.max(400, viewHeight - margin * 4, ...cards.map((each) => each.element.offsetHeight));
  let x = margin;
  let height = 0;
  for (const layer of layers) {
    order(layer);
    let y = margin;
    let isFirst = true;
    for (const card of layer) {
      const own = card.element.offsetHeight;
      if (!isFirst && y + own > tallest + margin * 2) {
        x += cardWidth + gap * 1.5;
        y = margin;
      }
      Object.assign(card, { x, y, width: cardWidth, height: own });
      setStyle(card.element, { left: x, top: y });
      y += own + gap;
      height = Math.max(height, y);
      isFirst = false;
    }
    x += cardWidth + columnGap;
  }
  return { width: x - columnGap + margin + loopRoom, height: height + margin };
}

/** Layers so that references go to the right where there is no cycle; those without any come last. */
function layersOf(cards) {
  const byName = new Map(cards.map((each) => [each.entity.name, each]));
  const depths = new Map();
  const depth = (card, path) => {
    if (depths.has(card)) return depths.get(card);
    if (path.has(card)) return 0;
    path.add(card);
    let most = 0;
    for (const each of card.entity.relationships) {
      const target = byName.get(each.destination);
      if (target && target !== card) most = Math.max(most, 1 + depth(target, path));
    }
    path.delete(card);
    depths.set(card, most);
    return most;
  };
  for (const card of cards) depth(card, new Set());
  const referred = new Set(cards.flatMap((each) => each.entity.relationships.map((one) => one.destination)));
  const deepest = Math.max(...depths.values());
  const layers = Array.from({ length: deepest + 1 }, () => []);
  const alone = [];
  for (const card of cards) {
    const isAlone = card.entity.relationships.length === 0 && !referred.has(card.entity.name);
    (isAlone ? alone : layers[deepest - depths.get(card)]).push(card);
  }
  return [...layers, alone].filter((each) => each.length > 0);
}

function order(layer) {
  const weight = (card) => -card.entity.relationships.length * 1000 - card.entity.attributes.length;
  layer.sort((first, second) => weight(first) - weight(second));
}

/** Draws a curve from each relationship's line to the entity that it refers to. */
export function drawArrows(svg, cards, size) {
  const byName = new Map(cards.map((each) => [each.entity.name, each]));
  svg.setAttribute("width", size.width);
  svg.setAttribute("height", size.height);
  const paths = [];
  for (const card of cards) {
    for (const line of card.element.querySelectorAll("[data-relationship]")) {
      const target = byName.get(line.dataset.to);
      if (!target) continue;
      const y = card.y + line.offsetTop + line.offsetHeight / 2;
      const endY = target.y + 14;
      paths.push(s("path", {
        d: route(cards, card, target, y, endY), "marker-end": "url(#arrow)",
        "data-from": card.entity.name, "data-to": target.entity.name,
      }));
    }
  }
  replace(svg, s("defs", {}, s("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
  }, s("path", { d: "M0 0.5L8 4L0 7.5z" }))), paths);
}
