// Colors and places of the points: fetched when they are needed, drawn, explained by the legend.

import { getColumn, getCoordinates } from "./api";
import { colorBy, highlighted, plain, rowsOf } from "./colors";
import { drawLegend } from "./legend";
import { problemText, toast } from "./notices";
import { set, view } from "./state";
import type { Column } from "./api_types";
import { canvas, tone, world } from "./world";

/** The column that the map is to be colored by, if it is ready. */
const currentColumn = (): Column | undefined =>
  world.info.columns.find(({ name, state }) => name === view.color && state === "ready");

/** Fetches what the colors need and turns it into colors; without it all points have one. */
export async function color(): Promise<void> {
  const { info, columns } = world;
  const column = currentColumn();
  try {
    if (column && !columns.has(column.name)) columns.set(column.name, await getColumn(column.name));
  } catch (error) {
    toast(problemText(error));
  }
  const now = currentColumn(); // another one may have been chosen meanwhile
  const data = now && columns.get(now.name);
  if (now && !data && now !== column) return;
  world.coloring = now && data ? colorBy(now, data, tone()) : plain(info.nodes, tone());
}

export async function recolor(): Promise<void> {
  await color();
  paint();
  await world.scatter?.show(world.coordinates, world.coloring.slots);
  canvas.dataset.color = view.color ?? "";
}

/** The colors of the points, and the legend. */
export function paint(): void {
  const { coloring, info, scatter } = world;
  const background = getComputedStyle(document.documentElement).getPropertyValue("--map").trim();
  scatter?.colors(highlighted(coloring, view.highlight, tone()), background, info.nodes);
  if (!scatter || view.color === null || (coloring.entries.length === 0 && coloring.ramp === null)) return drawLegend(null);
  return drawLegend({
    title: view.color,
    coloring,
    highlight: view.highlight,
    pick: (highlight) => set({ highlight }),
    select: (slot) => set({ selection: rowsOf(coloring, slot), panel: "selection" }),
  });
}

/** Where the points are in the chosen layout. */
export async function place(): Promise<void> {
  if (view.layout === null) return;
  const layout = view.layout;
  const fetched = await getCoordinates(layout);
  if (fetched.length !== 2 * world.info.nodes) throw new Error("coordinates of another number of nodes");
  if (layout === view.layout) world.coordinates = fetched;
}

export async function relayout(): Promise<void> {
  try {
    await place();
    await world.scatter?.show(world.coordinates, world.coloring.slots);
    canvas.dataset.layout = view.layout ?? "";
    world.marks?.draw();
  } catch (error) {
    toast(problemText(error));
  }
}
