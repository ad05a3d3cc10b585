// Questions to the coordinates, answered by one pass over them: two milliseconds for a million points, so that no
// index has to be built before the first view.

export interface Box {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

export type Coordinates = Float32Array; // (n, 2)

export function bounds(xy: Coordinates): Box {
  const box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i];
    const y = xy[i + 1];
    if (x < box.left) box.left = x;
    if (x > box.right) box.right = x;
    if (y < box.bottom) box.bottom = y;
    if (y > box.top) box.top = y;
  }
  return xy.length ? box : { left: -1, right: 1, bottom: -1, top: 1 };
}

/** The row nearest to (x, y) within `reach`, or null. */
export function nearest(xy: Coordinates, x: number, y: number, reach: number): number | null {
  let best = reach * reach;
  let row: number | null = null;
  for (let i = 0; i < xy.length; i += 2) {
    const dx = xy[i] - x;
    const dy = xy[i + 1] - y;
    const distance = dx * dx + dy * dy;
    if (distance <= best) {
      best = distance;
      row = i >> 1;
    }
  }
  return row;
}

const CELLS = 64; // of the grid on which crowds are found, each way

/** How many points are in a box, and on which share of it they crowd: 1 if evenly spread, near 0 if all in one place. */
export function crowd(xy: Coordinates, box: Box): { inside: number; share: number } {
  const cells = new Float64Array(CELLS * CELLS);
  const wide = CELLS / (box.right - box.left);
  const high = CELLS / (box.top - box.bottom);
  let inside = 0;
  for (let i = 0; i < xy.length; i += 2) {
    const column = Math.floor((xy[i] - box.left) * wide);
    const line = Math.floor((xy[i + 1] - box.bottom) * high);
    if (column < 0 || column >= CELLS || line < 0 || line >= CELLS) continue;
    cells[line * CELLS + column]++;
    inside++;
  }
  let squares = 0;
  for (const count of cells) squares += count * count;
  return { inside, share: inside ? (inside * inside) / squares / cells.length : 1 };
}

/** Rows inside a closed polygon (even-odd rule), ascending. */
export function within(xy: Coordinates, polygon: [number, number][]): number[] {
  const flat = new Float32Array(polygon.length * 2);
  polygon.forEach(([x, y], i) => flat.set([x, y], 2 * i));
  const box = bounds(flat);
  const rows: number[] = [];
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i];
    const y = xy[i + 1];
    if (x < box.left || x > box.right || y < box.bottom || y > box.top) continue;
    if (inside(polygon, x, y)) rows.push(i >> 1);
  }
  return rows;
}

function inside(polygon: [number, number][], x: number, y: number): boolean {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i];
    const [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}
