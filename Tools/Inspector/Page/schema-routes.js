// The way of a reference in the picture of a schema: between the cards, never under one.

/** The room to the right of the last column, for what refers to its own column. */
export const loopRoom = 44;
const distance = 3;
const lead = 14;

/** The path from a line of one card to the head of another. */
export function route(cards, card, target, y, endY) {
  if (target.x === card.x) return loop(card, target, y, endY);
  const direction = target.x > card.x ? 1 : -1;
  const start = direction > 0 ? card.x + card.width + distance : card.x - distance;
  const end = direction > 0 ? target.x - distance : target.x + target.width + distance;
  let path = `M${start} ${y}`;
  let place = [start, y];
  const go = (x, newY) => {
    const bend = ((x - place[0]) / 2);
    path += `C${place[0] + bend} ${place[1]} ${x - bend} ${newY} ${x} ${newY}`;
    place = [x, newY];
  };
  for (const column of columnsBetween(cards, card, target, direction)) {
    const left = column[0].x - lead;
    const right = column[0].x + column[0].width + lead;
    const wanted = place[1] + ((endY - place[1]) * ((left + right) / 2 - place[0])) / (end - place[0]);
    const free = freeHeight(column, wanted);
    go(direction > 0 ? left : right, free);
    path += `H${direction > 0 ? right : left}`;
    place = [direction > 0 ? right : left, free];
  }
  go(end, endY);
  return path;
}

/** Within one column, around its right side. */
function loop(card, target, y, endY) {
  const edge = card.x + card.width + distance;
  const reach = edge + loopRoom - 12;
  return `M${edge} ${y}C${reach} ${y} ${reach} ${endY} ${edge} ${endY}`;
}

/** The columns that lie between two cards, in the order in which the way meets them. */
function columnsBetween(cards, card, target, direction) {
  const columns = new Map();
  for (const each of cards) {
    const isBetween = direction > 0 ? each.x > card.x && each.x < target.x : each.x < card.x && each.x > target.x;
    if (isBetween) columns.set(each.x, [...(columns.get(each.x) ?? []), each]);
  }
  return [...columns.entries()].sort(([first], [second]) => (first - second) * direction).map(([, column]) => column);
}

/** The height nearest to the wanted one that no card of a column covers. */
function freeHeight(column, wanted) {
  const sorted = [...column].sort((first, second) => first.y - second.y);
  const gaps = [sorted[0].y - 8, ...sorted.map((each, place) => {
    const below = each.y + each.height;
    const next = sorted[place + 1];
    return next ? (below + next.y) / 2 : Math.max(below + 12, wanted);
  })];
  return gaps.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best));
}
