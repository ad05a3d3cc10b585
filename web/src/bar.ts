// The controls of the bar: what colors mean, which layout, the lasso, the theme, the link.

import { byId, count, el } from "./dom";
import { LARGEST_SELECTION, toHash } from "./link";
import { toast } from "./notices";
import { set, type Theme, view } from "./state";
import type { TaskState } from "./api_types";
import { canvas, tone, world } from "./world";

const HASH_WAIT = 250; // ms without a change before the address is written
const STATES: Record<TaskState["state"], string> = { ready: "", working: " (working…)", failed: " (failed)" };

let hashTimer = 0;
let lassoing = false;

export const isLassoing = (): boolean => lassoing;

export function drawControls(): void {
  const nothing = el("option", { value: "" }, "nothing");
  nothing.selected = view.color === null;
  byId("color").replaceChildren(nothing, ...world.info.columns.map((column) => choice(column, view.color)));
  byId("layout").replaceChildren(...world.info.layouts.map((layout) => choice(layout, view.layout)));
}

function choice({ name, state }: Pick<TaskState, "name" | "state">, current: string | null): HTMLOptionElement {
  const option = el("option", { value: name, disabled: state !== "ready" }, `${name}${STATES[state]}`);
  option.selected = name === current;
  return option;
}

export function nextTheme(): void {
  const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
  set({ theme: next[view.theme] });
}

export function drawTheme(): void {
  document.documentElement.dataset.theme = tone();
  const words: Record<Theme, string> = { auto: "as the system", light: "light", dark: "dark" };
  byId("theme").setAttribute("aria-label", `Theme: ${words[view.theme]}`);
}

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem("theme");
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto"; // a browser that keeps nothing
  }
}

export function storeTheme(): void {
  try {
    localStorage.setItem("theme", view.theme);
  } catch {
    // it holds until the page is closed
  }
}

export function lasso(active: boolean): void {
  lassoing = active && world.scatter !== null;
  byId("lasso").setAttribute("aria-pressed", String(lassoing));
  canvas.classList.toggle("lassoing", lassoing);
  world.scatter?.lasso(lassoing);
}

export function writeHash(): void {
  clearTimeout(hashTimer);
  const hash = toHash(view, world.scatter ? world.scatter.camera : null);
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

export function writeHashSoon(): void {
  clearTimeout(hashTimer);
  hashTimer = window.setTimeout(writeHash, HASH_WAIT);
}

export async function copyLink(): Promise<void> {
  writeHash();
  const size = view.selection.length;
  const rest = size > LARGEST_SELECTION ? ` The selection of ${count(size)} nodes is too large for it: export that.` : "";
  try {
    await navigator.clipboard.writeText(location.href);
    toast(`Link copied.${rest}`);
  } catch {
    toast(`This browser does not let pages copy; the link is in the address bar.${rest}`);
  }
}
