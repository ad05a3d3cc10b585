// Puts the page together: what is asked first, what a change of the view leads to, what keys do.

import { drawAbout } from "./about";
import { getColumn, getCoordinates, getInfo, getNode, onReach } from "./api";
import { Card } from "./card";
import { type Coloring, colorBy, highlighted, plain, rowsOf } from "./colors";
import { button, byId, count, el, shown } from "./dom";
import { listen, type Shortcut, showKeys } from "./keys";
import { drawLegend } from "./legend";
import { fromHash, LARGEST_SELECTION, toHash } from "./link";
import { Marks } from "./marks";
import { cover, isAbort, reach, said, toast, work } from "./notices";
import { type Camera, type Free, Scatter } from "./scatter";
import { Search } from "./search";
import { Selection } from "./selection";
import { on, type Panel, set, type Theme, view } from "./state";
import type { Info } from "./types";

const POLL = 1500; // ms between looks at what is made in the background
const HASH_WAIT = 250;
const PAN = 0.12; // of the height of the view, a press of an arrow
const ZOOM = 1.35;
const NARROW = "(max-width: 640px)";

const canvas = byId<HTMLCanvasElement>("map");
const panel = byId("panel");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

let info: Info;
let scatter: Scatter | null = null; // null without WebGL
let marks: Marks | null = null;
let coloring: Coloring;
let coordinates: Float32Array = new Float32Array(0);
let lassoing = false;
let hashTimer = 0;
const columns = new Map<string, ArrayBuffer>();

const tone = (): "light" | "dark" => {
  if (view.theme !== "auto") return view.theme;
  return systemDark.matches ? "dark" : "light";
};

const colorOf = (row: number): string => coloring.colors[coloring.slots[row]] ?? "#888888";

// ---- what of the map is free of panels

function free(): Free {
  const { width, height } = canvas.getBoundingClientRect();
  const narrow = matchMedia(NARROW).matches;
  const margin = narrow ? 16 : 36;
  const covered = panel.hidden ? 0 : narrow ? panel.offsetHeight : panel.offsetWidth;
  return {
    left: margin,
    top: margin,
    right: width - margin - (narrow ? 0 : covered),
    bottom: height - margin - (narrow ? covered : 0),
  };
}

// ---- going places

function go(row: number): void {
  set({ row, panel: "node" });
  void scatter?.look(scatter.near(row));
}

function fit(smooth = true): void {
  if (scatter) void scatter.look(scatter.frame(), smooth);
}

function pan(x: number, y: number): void {
  if (!scatter) return;
  const at = scatter.camera;
  void scatter.look({ ...at, x: at.x + x * PAN * 2 * at.distance, y: at.y + y * PAN * 2 * at.distance }, false);
}

function zoom(by: number): void {
  if (!scatter) return;
  const at = scatter.camera;
  void scatter.look({ ...at, distance: Math.min(Math.max(at.distance * by, 1e-4), 20) }, false);
}

function openMiddle(): void {
  const { left, right, top, bottom } = free();
  const row = scatter?.at((left + right) / 2, (top + bottom) / 2, 1e6) ?? null;
  if (row !== null) set({ row, panel: "node" });
}

// ---- colours and layouts

async function recolor(): Promise<void> {
  const column = info.columns.find((one) => one.name === view.color && one.state === "ready");
  try {
    if (column && !columns.has(column.name)) columns.set(column.name, await getColumn(column.name));
    if (column && column.name !== view.color) return; // another one was chosen meanwhile
    const data = column && columns.get(column.name);
    coloring = column && data ? colorBy(column, data, tone()) : plain(info.nodes, tone());
  } catch (error) {
    toast(said(error));
    coloring = plain(info.nodes, tone());
  }
  paint();
  await scatter?.show(coordinates, coloring.slots);
  canvas.dataset.color = column ? column.name : "";
  drawPanel();
}

function paint(): void {
  const background = getComputedStyle(document.documentElement).getPropertyValue("--map").trim();
  scatter?.colors(highlighted(coloring, view.highlight, tone()), background, info.nodes);
  const title = view.color;
  if (title === null || (coloring.entries.length === 0 && coloring.ramp === null)) return drawLegend(null);
  drawLegend({
    title,
    coloring,
    highlight: view.highlight,
    pick: (highlight) => set({ highlight }),
    select: (slot) => set({ selection: rowsOf(coloring, slot), panel: "selection" }),
  });
}

async function relayout(): Promise<void> {
  if (!view.layout) return;
  try {
    const fetched = await getCoordinates(view.layout);
    if (fetched.length !== 2 * info.nodes) throw new Error("coordinates of another number of nodes");
    coordinates = fetched;
    await scatter?.show(coordinates, coloring.slots);
    canvas.dataset.layout = view.layout;
    marks?.draw();
  } catch (error) {
    toast(said(error));
  }
}

// ---- panel

const card = new Card({
  info: () => info,
  go,
  colorOf,
  found: (node) => marks?.showNode({ row: node.row, name: shown(node.node), kind: "node" }),
  foundNeighbors: (found) =>
    marks?.showNeighbors(found.map(({ row }) => ({ row, name: null, kind: "neighbor" }))),
});

const selection = new Selection({
  go,
  frame: () => scatter && void scatter.look(scatter.frame(view.selection)),
  colorOf,
  place: (row) => [coordinates[2 * row], coordinates[2 * row + 1]],
  batch: () => info.limits.rows,
  file: () => info.name.replace(/[^\w.-]+/g, "_") || "embedding",
});

const TABS: [Exclude<Panel, null>, string][] = [
  ["node", "Node"],
  ["selection", "Selection"],
  ["about", "About"],
];

function drawPanel(): void {
  const wasHidden = panel.hidden;
  panel.hidden = view.panel === null;
  byId("about").setAttribute("aria-pressed", String(view.panel === "about"));
  if (view.panel === null) return;
  const tabs = TABS.map(([name, title]) =>
    button(name === "selection" && view.selection.length ? `${title} (${count(view.selection.length)})` : title, () => set({ panel: name }), {
      class: "tab",
      "aria-pressed": String(name === view.panel),
    }),
  );
  const close = button("×", () => set({ panel: null }), { class: "close", "aria-label": "Close the panel" });
  const body = el("div", { class: "body", tabindex: -1 });
  panel.replaceChildren(el("div", { class: "tabs" }, ...tabs, close), body);
  if (view.panel === "node") void card.show(body);
  if (view.panel === "selection") selection.show(body);
  if (view.panel === "about") drawAbout(body, info);
  if (wasHidden) panel.scrollTop = 0;
}

// ---- controls of the bar

function drawControls(): void {
  const color = byId<HTMLSelectElement>("color");
  const layout = byId<HTMLSelectElement>("layout");
  const named = (name: string, state: string): string =>
    state === "ready" ? name : state === "working" ? `${name} (working…)` : `${name} (failed)`;
  const choice = (name: string, state: string, chosen: boolean): HTMLOptionElement => {
    const made = el("option", { value: name, disabled: state !== "ready" }, named(name, state));
    made.selected = chosen;
    return made;
  };
  const nothing = el("option", { value: "" }, "nothing");
  nothing.selected = view.color === null;
  color.replaceChildren(nothing, ...info.columns.map(({ name, state }) => choice(name, state, name === view.color)));
  layout.replaceChildren(...info.layouts.map(({ name, state }) => choice(name, state, name === view.layout)));
}

function chooseTheme(): void {
  const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
  set({ theme: next[view.theme] });
}

function drawTheme(): void {
  document.documentElement.dataset.theme = tone();
  const words: Record<Theme, string> = { auto: "as the system", light: "light", dark: "dark" };
  byId("theme").setAttribute("aria-label", `Theme: ${words[view.theme]}`);
}

function lasso(active: boolean): void {
  lassoing = active && scatter !== null;
  byId("lasso").setAttribute("aria-pressed", String(lassoing));
  canvas.classList.toggle("lassoing", lassoing);
  scatter?.lasso(lassoing);
}

async function copyLink(): Promise<void> {
  writeHash();
  const large = view.selection.length > LARGEST_SELECTION;
  const told = large ? ` Its selection of ${count(view.selection.length)} nodes is too large for a link; export it instead.` : "";
  try {
    await navigator.clipboard.writeText(location.href);
    toast(`Link copied.${told}`);
  } catch {
    toast(`The link is in the address bar; this browser does not let pages copy.${told}`);
  }
}

// ---- the link

function writeHash(): void {
  clearTimeout(hashTimer);
  const hash = toHash(view, scatter ? scatter.camera : null);
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

function writeHashSoon(): void {
  clearTimeout(hashTimer);
  hashTimer = window.setTimeout(writeHash, HASH_WAIT);
}

/** The view of the link, with what it does not say from the embedding. */
function restored(): Camera | null {
  const { camera, ...linked } = fromHash(location.hash, info.nodes);
  const ready = (name: string | null | undefined, all: { name: string; state: string }[]): string | null =>
    all.find((one) => one.name === name && one.state === "ready")?.name ?? null;
  const stored = storedTheme();
  const first = location.hash.length > 1 ? null : info.columns.find(({ name, state }) => name === "label" && state === "ready");
  set({
    ...linked,
    theme: linked.theme ?? stored,
    layout: ready(linked.layout, info.layouts) ?? info.layout,
    color: ready(linked.color, info.columns) ?? first?.name ?? null,
    score: info.score_names.includes(linked.score ?? "") ? linked.score! : "cosine",
    panel: linked.panel === "node" && linked.row === null ? null : (linked.panel ?? null),
  });
  return camera ?? null;
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem("theme");
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}

// ---- background work

async function poll(): Promise<void> {
  const before = info;
  try {
    info = await getInfo();
  } catch {
    return; // the banner tells
  } finally {
    schedulePoll();
  }
  const fresh = info.layouts.find(
    ({ name, state }) => state === "ready" && before.layouts.find((old) => old.name === name)?.state === "working",
  );
  if (fresh) offer(fresh.name);
  drawControls();
  if (view.panel === "about") drawPanel();
}

/** A better layout is ready: taken at once if nobody has begun to look around, else offered. */
function offer(layout: string): void {
  if (view.row === null && view.selection.length === 0 && !moved) {
    set({ layout });
    return;
  }
  toast(`The layout “${layout}” is ready: choose it under Layout.`);
}

let moved = false;

function schedulePoll(): void {
  const working = [...info.layouts, ...info.columns, ...info.scores].filter(({ state }) => state === "working");
  work(working.map(({ name }) => name));
  if (working.length) setTimeout(() => void poll(), POLL);
}

// ---- the pointer

function followPointer(map: Scatter, over: Marks): void {
  let pressed: [number, number] | null = null;
  let hovered: number | null = null;
  let frame = 0;
  let asked = new AbortController();
  let naming = 0;

  const hover = (row: number | null): void => {
    if (row === hovered) return;
    hovered = row;
    asked.abort();
    clearTimeout(naming);
    canvas.classList.toggle("pointing", row !== null && !lassoing);
    over.showHover(row === null ? null : { row, name: null, kind: "hover" });
    if (row === null) return;
    naming = window.setTimeout(() => void name(row), 60);
  };
  const name = async (row: number): Promise<void> => {
    asked = new AbortController();
    try {
      const node = await getNode(row, asked.signal);
      if (hovered === row) over.showHover({ row, name: shown(node.node), kind: "hover" });
    } catch (error) {
      if (!isAbort(error)) hover(null);
    }
  };
  canvas.addEventListener("mousedown", (event) => {
    pressed = [event.clientX, event.clientY];
    moved = true;
  });
  canvas.addEventListener("wheel", () => (moved = true), { passive: true });
  canvas.addEventListener("mouseleave", () => hover(null));
  canvas.addEventListener("mousemove", (event) => {
    cancelAnimationFrame(frame);
    if (event.buttons) return hover(null);
    frame = requestAnimationFrame(() => hover(map.at(event.offsetX, event.offsetY)));
  });
  canvas.addEventListener("click", (event) => {
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4 || lassoing) return;
    const row = map.at(event.offsetX, event.offsetY);
    if (row !== null) set({ row, panel: "node" });
  });
}

// ---- start

function withoutWebGL(): void {
  document.documentElement.dataset.map = "static";
  const picture = el("img", { src: "map.png", alt: `Map of ${count(info.nodes)} nodes` });
  const why = "This browser has no WebGL, so the map is a picture. Search and cards work as always.";
  const how = "To move in the map, turn on hardware acceleration in the browser's settings, or use another browser.";
  cover("A still map", el("p", {}, why), el("p", { class: "muted" }, how), picture);
  for (const id of ["lasso", "fit"]) byId<HTMLButtonElement>(id).disabled = true;
  for (const id of ["color", "layout"]) byId<HTMLSelectElement>(id).disabled = true;
}

function makeMap(): void {
  try {
    scatter = new Scatter(canvas, free);
  } catch {
    withoutWebGL();
    return;
  }
  const map = scatter;
  const over = (marks = new Marks(map));
  map.onDraw(() => {
    over.draw();
    map.balance();
    const { x, y, distance } = map.camera;
    canvas.dataset.camera = [x, y, distance].join(",");
    writeHashSoon();
  });
  map.onLasso((rows) => {
    lasso(false);
    set({ selection: rows, panel: rows.length ? "selection" : view.panel === "selection" ? null : view.panel });
  });
  followPointer(map, over);
}

const shortcuts: Shortcut[] = [
  { keys: ["/"], shown: "/", does: "find a node by name", run: () => search.focus() },
  { keys: ["ArrowLeft"], shown: "←", does: "pan left", run: () => pan(-1, 0), onMap: true },
  { keys: ["ArrowRight"], shown: "→", does: "pan right", run: () => pan(1, 0), onMap: true },
  { keys: ["ArrowUp"], shown: "↑", does: "pan up", run: () => pan(0, 1), onMap: true },
  { keys: ["ArrowDown"], shown: "↓", does: "pan down", run: () => pan(0, -1), onMap: true },
  { keys: ["+", "="], shown: "+", does: "zoom in", run: () => zoom(1 / ZOOM) },
  { keys: ["-", "_"], shown: "−", does: "zoom out", run: () => zoom(ZOOM) },
  { keys: ["0"], shown: "0", does: "show the whole map", run: () => fit() },
  { keys: ["Enter"], shown: "Enter", does: "on the map: open the node in the middle", run: openMiddle, onMap: true },
  { keys: ["l", "L"], shown: "L", does: "lasso on or off", run: () => lasso(!lassoing) },
  { keys: ["s", "S"], shown: "S", does: "list the selection", run: () => set({ panel: "selection" }) },
  { keys: ["c", "C"], shown: "C", does: "copy a link to this view", run: () => void copyLink() },
  { keys: ["t", "T"], shown: "T", does: "theme: light, dark, as the system", run: chooseTheme },
  { keys: ["i", "I"], shown: "I", does: "about this embedding", run: () => toggleAbout() },
  { keys: ["Escape"], shown: "Esc", does: "close what is open", run: escape },
  { keys: ["?"], shown: "?", does: "this list", run: () => showKeys(shortcuts) },
];

function toggleAbout(): void {
  set({ panel: view.panel === "about" ? null : "about" });
}

function escape(): void {
  if (lassoing) return lasso(false);
  if (view.panel !== null) return set({ panel: null });
  if (view.highlight !== null) return set({ highlight: null });
  if (view.row !== null) return set({ row: null });
  set({ selection: [] });
}

const search = new Search(go);

function connect(): void {
  on(["row"], () => marks?.showNode(view.row === null ? null : { row: view.row, name: null, kind: "node" }));
  on(["selection"], () => {
    selection.reset();
    scatter?.select(view.selection);
  });
  on(["row", "panel", "selection"], drawPanel);
  on(["color"], () => {
    set({ highlight: null });
    void recolor();
    drawControls();
  });
  on(["highlight"], paint);
  on(["layout"], () => {
    void relayout();
    drawControls();
  });
  on(["theme"], () => {
    try {
      localStorage.setItem("theme", view.theme);
    } catch {
      // a browser that keeps nothing still shows the theme
    }
    drawTheme();
    void recolor();
  });
  on(["layout", "color", "highlight", "row", "selection", "panel", "score", "label", "unlinked", "theme"], writeHashSoon);
  systemDark.addEventListener("change", () => {
    drawTheme();
    void recolor();
  });
  byId("color").addEventListener("change", (event) => set({ color: (event.target as HTMLSelectElement).value || null }));
  byId("layout").addEventListener("change", (event) => set({ layout: (event.target as HTMLSelectElement).value }));
  byId("lasso").addEventListener("click", () => lasso(!lassoing));
  byId("fit").addEventListener("click", () => fit());
  byId("link").addEventListener("click", () => void copyLink());
  byId("theme").addEventListener("click", chooseTheme);
  byId("about").addEventListener("click", toggleAbout);
  byId("help").addEventListener("click", () => showKeys(shortcuts));
  window.addEventListener("hashchange", () => {
    const camera = restored();
    if (camera) void scatter?.look(camera);
  });
  listen(shortcuts);
}

async function start(): Promise<void> {
  onReach(reach);
  document.documentElement.dataset.theme = systemDark.matches ? "dark" : "light";
  try {
    info = await getInfo();
  } catch (error) {
    cover("The map could not be loaded", said(error), button("Try again", () => location.reload(), { class: "plain" }));
    document.documentElement.dataset.state = "failed";
    return;
  }
  document.title = `${info.name} · graphrefine explore`;
  byId("title").textContent = info.name;
  byId("subtitle").textContent = `${count(info.nodes)} nodes, ${count(info.dim)} dimensions`;
  canvas.setAttribute("aria-label", `Map of ${count(info.nodes)} nodes`);
  const camera = restored();
  drawTheme();
  drawControls();
  coloring = plain(info.nodes, tone());
  if (info.nodes === 0) {
    cover("This embedding has no nodes", "There is nothing to show. Make one with: graphrefine embed GRAPH -o NAME");
    document.documentElement.dataset.state = "empty";
    return;
  }
  makeMap();
  connect();
  await firstView(camera);
  document.documentElement.dataset.state = "ready";
  schedulePoll();
}

/** The points first, in one colour; then whatever else the view has. */
async function firstView(camera: Camera | null): Promise<void> {
  if (scatter && view.layout) {
    const column = view.color === null ? Promise.resolve() : fetchColumn(view.color);
    try {
      coordinates = await getCoordinates(view.layout);
      await column;
    } catch (error) {
      cover("The map could not be loaded", said(error), button("Try again", () => location.reload(), { class: "plain" }));
      return;
    }
    const chosen = info.columns.find(({ name }) => name === view.color);
    const data = chosen && columns.get(chosen.name);
    if (chosen && data) coloring = colorBy(chosen, data, tone());
    paint();
    drawPanel();
    cover(null);
    const shown = scatter.show(coordinates, coloring.slots);
    void scatter.look(camera ?? scatter.frame(), false);
    await shown;
    canvas.dataset.layout = view.layout;
    canvas.dataset.color = view.color ?? "";
    canvas.dataset.drawn = String(info.nodes);
    if (view.selection.length) scatter.select(view.selection);
  } else {
    paint();
    drawPanel();
  }
}

async function fetchColumn(name: string): Promise<void> {
  try {
    columns.set(name, await getColumn(name));
  } catch (error) {
    toast(said(error));
  }
}

void start();
