// What the server makes while the page is open: layouts, communities, scores. They are offered as they become ready.

import { getInfo } from "./api";
import { drawControls } from "./bar";
import { toast, work } from "./notices";
import { drawPanel } from "./panel";
import { hasMoved } from "./pointer";
import { set, view } from "./state";
import { world } from "./world";

const POLL = 1500; // ms
const FIRST_COLORS = ["label", "community", "cluster"]; // the best that is ready, as long as nobody has chosen

export function firstColor(): string | null {
  const ready = world.info.columns.filter(({ state }) => state === "ready").map(({ name }) => name);
  return FIRST_COLORS.find((name) => ready.includes(name)) ?? null;
}

let isColorFixed = false;

/** Somebody has chosen what colors mean; it is theirs from now on. */
export function keepColor(): void {
  isColorFixed = true;
}

const untouched = (): boolean => view.row === null && view.selection.length === 0 && !hasMoved();

export function follow(): void {
  const { layouts, columns, scores } = world.info;
  const working = [...layouts, ...columns, ...scores].filter(({ state }) => state === "working");
  work(working.map(({ name }) => name));
  if (working.length) setTimeout(() => void look(), POLL);
}

async function look(): Promise<void> {
  const before = world.info.layouts;
  try {
    world.info = await getInfo();
  } catch {
    setTimeout(() => void look(), POLL); // the banner tells
    return;
  }
  const fresh = world.info.layouts.find(
    ({ name, state }) => state === "ready" && before.some((old) => old.name === name && old.state !== "ready"),
  );
  if (fresh) offer(fresh.name);
  if (view.color === null && untouched() && !isColorFixed) set({ color: firstColor() });
  drawControls();
  if (view.panel === "about") drawPanel();
  follow();
}

/** Taken at once while nobody has begun to look around, else offered. */
function offer(layout: string): void {
  if (untouched()) set({ layout });
  else toast(`The layout “${layout}” is ready: choose it under Layout.`);
}
