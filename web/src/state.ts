// What is looked at: one object, changed in one place, and who wants to know of which part.

export type Panel = "node" | "selection" | "about" | null;
export type Theme = "auto" | "light" | "dark";

export interface View {
  layout: string | null;
  color: string | null; // a column, or null for one color
  highlight: number | null; // an entry of the legend
  row: number | null; // the node whose card is shown
  selection: number[]; // rows, ascending
  panel: Panel;
  theme: Theme;
  score: string;
  label: string | null; // only neighbors with this label
  exclude_linked: boolean; // only neighbors without an edge
}

export const view: View = {
  layout: null,
  color: null,
  highlight: null,
  row: null,
  selection: [],
  panel: null,
  theme: "auto",
  score: "cosine",
  label: null,
  exclude_linked: false,
};

type Key = keyof View;
const listeners: [Key[], () => void][] = [];

/** Calls `changed` after any of `keys` has got another value. */
export function on(keys: Key[], changed: () => void): void {
  listeners.push([keys, changed]);
}

export function set(patch: Partial<View>): void {
  const keys = (Object.keys(patch) as Key[]).filter((key) => !same(view[key], patch[key]));
  if (keys.length === 0) return;
  Object.assign(view, patch);
  for (const [names, changed] of listeners) if (names.some((key) => keys.includes(key))) changed();
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, i) => value === b[i]);
  return a === b;
}
