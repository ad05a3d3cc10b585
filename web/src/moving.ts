// Going places: to a node, to the whole, a step further.

import { set } from "./state";
import { free, world } from "./world";

const PAN = 0.24; // of half the height of the view, a press of an arrow
const ZOOM = 1.35;
const CLOSEST = 1e-4;
const FARTHEST = 20;

/** To a node, with its card. */
export function go(row: number): void {
  set({ row, panel: "node" });
  void world.scatter?.look(world.scatter.near(row));
}

/** To a node's card; the map moves only if the node would lie under a panel. */
export function open(row: number): void {
  set({ row, panel: "node" });
  const { scatter } = world;
  if (!scatter || scatter.fitted) return;
  const [x, y] = scatter.place(row);
  const { left, right, top, bottom } = free();
  if (x > right || y > bottom || y < top - 30 || x < Math.min(left, 30)) void scatter.look(scatter.same(row));
}

export function fit(): void {
  void world.scatter?.fit();
}

/** A panel came or went: a map that was shown as a whole still is. */
export function refit(): void {
  if (world.scatter?.fitted) void world.scatter.fit();
}

export function pan(x: number, y: number): void {
  const { scatter } = world;
  if (!scatter) return;
  const at = scatter.camera;
  void scatter.look({ ...at, x: at.x + x * PAN * at.distance, y: at.y + y * PAN * at.distance }, false);
}

export function zoom(closer: boolean): void {
  const { scatter } = world;
  if (!scatter) return;
  const at = scatter.camera;
  const distance = closer ? at.distance / ZOOM : at.distance * ZOOM;
  void scatter.look({ ...at, distance: Math.min(Math.max(distance, CLOSEST), FARTHEST) }, false);
}

/** The card of the node nearest to the middle of what is free: the map by keyboard. */
export function openMiddle(): void {
  const { left, right, top, bottom } = free();
  const row = world.scatter?.at((left + right) / 2, (top + bottom) / 2, Infinity) ?? null;
  if (row !== null) open(row);
}
