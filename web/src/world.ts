// What is known of the embedding and shown of it: filled when the page starts, read by all modules.

import type { Coloring } from "./colors";
import { byId } from "./dom";
import type { Marks } from "./marks";
import type { Free, Scatter } from "./scatter";
import { view } from "./state";
import type { Info } from "./api_types";

export interface World {
  info: Info;
  scatter: Scatter | null; // null without WebGL
  marks: Marks | null;
  coloring: Coloring;
  coordinates: Float32Array; // (n, 2), of the layout that is shown
  columns: Map<string, ArrayBuffer>; // those that were fetched
}

export const world = { scatter: null, marks: null, coordinates: new Float32Array(0), columns: new Map() } as unknown as World;

export const canvas = byId<HTMLCanvasElement>("map");
export const panel = byId("panel");
export const systemDark = matchMedia("(prefers-color-scheme: dark)");

const narrowWindow = matchMedia("(max-width: 640px)");

export function tone(): "light" | "dark" {
  if (view.theme !== "auto") return view.theme;
  return systemDark.matches ? "dark" : "light";
}

export const colorOf = (row: number): string => world.coloring.colors[world.coloring.slots[row]] ?? "#888888";

/** What of the map is not covered by the legend and the panel. */
export function free(): Free {
  const { width, height } = canvas.getBoundingClientRect();
  const narrow = narrowWindow.matches;
  const margin = narrow ? 16 : 36;
  const covered = panel.hidden ? 0 : narrow ? panel.offsetHeight : panel.offsetWidth;
  const legend = byId("legend");
  return {
    left: narrow || legend.hidden ? margin : legend.offsetLeft + legend.offsetWidth + 16,
    top: margin,
    right: width - margin - (narrow ? 0 : covered),
    bottom: height - margin - (narrow ? covered : 0),
  };
}
