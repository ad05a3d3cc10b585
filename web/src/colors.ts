// Columns to colors. Categories get hues that color-blind people can tell apart, in three lightnesses; numbers get
// a ramp of even lightness; whatever is left over or unknown is grey.

import type { Category, Column } from "./api_types";
import { PALETTE } from "./palette";

export interface Entry {
  slot: number;
  name: string;
  count: number;
  color: string;
}

export interface Coloring {
  slots: Uint8Array; // (n,) which of `colors` a point has
  colors: string[];
  entries: Entry[]; // of the legend; none for numbers
  ramp: { colors: string[]; low: number; middle: number; high: number; none: number } | null;
}

const RAMP_STEPS = 64;
const NO_CODE = 65535;

type Tone = "light" | "dark";

const channels = (hex: string): number[] => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function mix(a: string, b: string, share: number): string {
  const [from, to] = [channels(a), channels(b)];
  const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function hues(tone: Tone): string[] {
  const base = PALETTE[tone].classes;
  const lighter = base.map((color) => mix(color, "#ffffff", 0.45));
  const darker = base.map((color) => mix(color, "#000000", 0.38));
  return tone === "light" ? [...base, ...darker, ...lighter] : [...base, ...lighter, ...darker];
}

// Dark is high on paper, light is high on a dark screen.
function ramp(tone: Tone): string[] {
  const stops = tone === "light" ? [...PALETTE.viridis].reverse().slice(2) : PALETTE.viridis.slice(1);
  return Array.from({ length: RAMP_STEPS }, (_, i) => {
    const place = (i / (RAMP_STEPS - 1)) * (stops.length - 1);
    const at = Math.min(Math.floor(place), stops.length - 2);
    return mix(stops[at], stops[at + 1], place - at);
  });
}

/** All points in one color. */
export function plain(n: number, tone: Tone): Coloring {
  return { slots: new Uint8Array(n), colors: [PALETTE[tone].single], entries: [], ramp: null };
}

export function colorBy(column: Column, data: ArrayBuffer, tone: Tone): Coloring {
  return column.kind === "category"
    ? byCategory(column.categories ?? [], new Uint16Array(data), tone)
    : byNumber(column, new Float32Array(data), tone);
}

function byCategory(categories: Category[], codes: Uint16Array, tone: Tone): Coloring {
  const palette = hues(tone);
  const order = categories.map((_, code) => code).sort((a, b) => categories[b].count - categories[a].count);
  const other = palette.length;
  const none = other + 1;
  const slotOf = new Uint8Array(NO_CODE + 1).fill(other);
  slotOf[NO_CODE] = none;
  order.slice(0, palette.length).forEach((code, slot) => (slotOf[code] = slot));
  const slots = new Uint8Array(codes.length);
  const counts = new Float64Array(none + 1);
  for (let i = 0; i < codes.length; i++) {
    const slot = slotOf[codes[i]];
    slots[i] = slot;
    counts[slot]++;
  }
  const colors = [...palette, PALETTE[tone].other, PALETTE[tone].none];
  const entry = (slot: number, name: string): Entry => ({ slot, name, count: counts[slot], color: colors[slot] });
  const entries = order.slice(0, palette.length).map((code, slot) => entry(slot, categories[code].name));
  if (counts[other]) entries.push(entry(other, `other (${categories.length - palette.length} more)`));
  if (counts[none]) entries.push(entry(none, "none"));
  return { slots, colors, entries, ramp: null };
}

function byNumber(column: Column, values: Float32Array, tone: Tone): Coloring {
  const low = column.min ?? 0;
  const high = column.max ?? 1;
  const scale = column.log ? (value: number) => Math.log1p(Math.max(value - low, 0)) : (value: number) => value - low;
  const span = scale(high) || 1;
  const slots = new Uint8Array(values.length);
  let none = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) {
      slots[i] = RAMP_STEPS;
      none++;
    } else {
      const step = Math.round((scale(value) / span) * (RAMP_STEPS - 1));
      slots[i] = Math.min(Math.max(step, 0), RAMP_STEPS - 1);
    }
  }
  const colors = ramp(tone);
  const middle = Number((column.log ? low + Math.expm1(span / 2) : (low + high) / 2).toPrecision(2));
  return { slots, colors: [...colors, PALETTE[tone].none], entries: [], ramp: { colors, low, middle, high, none } };
}

/** The colors with one slot as it is and all others faded. */
export function highlighted(coloring: Coloring, slot: number | null, tone: Tone): string[] {
  if (slot === null) return coloring.colors;
  const current = coloring.entries.find((entry) => entry.slot === slot);
  const faint = current && (current.color === PALETTE[tone].other || current.color === PALETTE[tone].none);
  return coloring.colors.map((color, i) => {
    if (i !== slot) return PALETTE[tone].faded;
    return faint ? PALETTE[tone].single : color;
  });
}

export function rowsOf(coloring: Coloring, slot: number): number[] {
  const rows: number[] = [];
  coloring.slots.forEach((value, row) => {
    if (value === slot) rows.push(row);
  });
  return rows;
}
