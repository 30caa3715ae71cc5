// Areas for sizes: rectangles as near to squares as they can be, the greatest first.

/** Places items with a `size` into a rectangle; each gets x, y, width and height. */
export function squarify(items, x, y, width, height) {
  const sum = items.reduce((total, each) => total + each.size, 0);
  if (sum <= 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / sum;
  const rest = items.filter((each) => each.size > 0).sort((first, second) => second.size - first.size);
  const placed = [];
  const area = { x, y, width, height };
  while (rest.length > 0) {
    const side = Math.min(area.width, area.height);
    const row = [];
    let length = 0;
    while (rest.length > 0) {
      const next = rest[0].size * scale;
      if (row.length > 0 && worst([...row, next], length + next, side) > worst(row, length, side)) break;
      row.push(next);
      length += next;
      placed.push({ ...rest.shift(), area: next });
    }
    layRow(placed.slice(-row.length), length, area);
  }
  return placed;
}

/** The worst proportion among the rectangles of a row. */
function worst(areas, sum, side) {
  const greatest = Math.max(...areas);
  const least = Math.min(...areas);
  return Math.max((side * side * greatest) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Lays a row along the shorter side, and takes it off the area. */
function layRow(row, sum, area) {
  if (area.width >= area.height) {
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
