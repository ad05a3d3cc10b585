// The view as the part of an address after "#", and back.

import type { Camera } from "./scatter";
import type { Theme, View } from "./state";

export const LARGEST_SELECTION = 500; // rows that a link carries; more would make it unwieldy

export interface Linked extends Partial<View> {
  camera?: Camera;
}

export function toHash(view: View, camera: Camera | null): string {
  const parts = new URLSearchParams();
  if (view.layout) parts.set("layout", view.layout);
  if (view.color) parts.set("color", view.color);
  if (view.highlight !== null) parts.set("only", String(view.highlight));
  if (view.row !== null) parts.set("row", String(view.row));
  if (view.selection.length && view.selection.length <= LARGEST_SELECTION) parts.set("select", ranges(view.selection));
  if (view.panel) parts.set("panel", view.panel);
  if (view.score !== "cosine") parts.set("score", view.score);
  if (view.label !== null) parts.set("label", view.label);
  if (view.exclude_linked) parts.set("exclude_linked", "1");
  if (view.theme !== "auto") parts.set("theme", view.theme);
  if (camera) parts.set("camera", [camera.x, camera.y, camera.distance].map((value) => value.toFixed(4)).join(","));
  return `#${parts.toString().replaceAll("%2C", ",")}`;
}

/** What a link says; what is not for this embedding (of `n` nodes) or not understood is left out. */
export function fromHash(hash: string, n: number): Linked {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const row = whole(parts.get("row"), n);
  const linked: Linked = {
    layout: parts.get("layout"),
    color: parts.get("color"),
    highlight: whole(parts.get("only"), 256),
    row,
    selection: rows(parts.get("select") ?? "", n),
    score: parts.get("score") ?? "cosine",
    label: parts.get("label"),
    exclude_linked: parts.get("exclude_linked") === "1",
  };
  const panel = parts.get("panel");
  linked.panel = panel === "selection" || panel === "about" ? panel : row !== null ? "node" : null;
  const theme = parts.get("theme");
  if (theme === "light" || theme === "dark") linked.theme = theme as Theme;
  const camera = (parts.get("camera") ?? "").split(",").map(Number);
  if (camera.length === 3 && camera.every(Number.isFinite) && camera[2] > 0) {
    linked.camera = { x: camera[0], y: camera[1], distance: camera[2] };
  }
  return linked;
}

function whole(text: string | null, limit: number): number | null {
  if (text === null || !/^\d+$/.test(text)) return null;
  const value = Number(text);
  return value < limit ? value : null;
}

/** 1,2,3,7 as 1-3,7. */
function ranges(sorted: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    parts.push(i === j ? String(sorted[i]) : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return parts.join(",");
}

function rows(text: string, n: number): number[] {
  const rows = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const last = Math.min(Number(match[2] ?? match[1]), n - 1);
    for (let row = Number(match[1]); row <= last && rows.size < LARGEST_SELECTION; row++) rows.add(row);
  }
  return [...rows].sort((a, b) => a - b);
}
