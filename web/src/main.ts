// Puts the page together: what is asked first, what a change of the view leads to, what keys do.

import { Failure, getInfo, onReach } from "./api";
import { firstColor, follow, keepColor } from "./background";
import { copyLink, drawControls, drawTheme, isLassoing, lasso, nextTheme, storedTheme, storeTheme, writeHashSoon } from "./bar";
import { plain } from "./colors";
import { button, byId, count, el } from "./dom";
import { listen, type Shortcut, showKeys } from "./keys";
import { fromHash } from "./link";
import { Marks } from "./marks";
import { fit, go, openMiddle, pan, refit, zoom } from "./moving";
import { cover, reach, problemText } from "./notices";
import { color, paint, place, recolor, relayout } from "./painting";
import { drawPanel, selection } from "./panel";
import { followPointer } from "./pointer";
import { followTouches } from "./touch";
import { type Camera, Scatter } from "./scatter";
import { Search } from "./search";
import { on, set, view } from "./state";
import type { Info } from "./api_types";
import { canvas, free, systemDark, tone, world } from "./world";

const LAYOUT_WAIT = 150; // ms between looks whether there is a first layout

const search = new Search(go);

const shortcuts: Shortcut[] = [
  { keys: ["/"], label: "/", does: "find a node by name", run: () => search.focus() },
  { keys: ["ArrowLeft"], label: "←", does: "pan left", run: () => pan(-1, 0), onMap: true },
  { keys: ["ArrowRight"], label: "→", does: "pan right", run: () => pan(1, 0), onMap: true },
  { keys: ["ArrowUp"], label: "↑", does: "pan up", run: () => pan(0, 1), onMap: true },
  { keys: ["ArrowDown"], label: "↓", does: "pan down", run: () => pan(0, -1), onMap: true },
  { keys: ["+", "="], label: "+", does: "zoom in", run: () => zoom(true) },
  { keys: ["-", "_"], label: "−", does: "zoom out", run: () => zoom(false) },
  { keys: ["0"], label: "0", does: "show the whole map", run: () => fit() },
  { keys: ["Enter"], label: "Enter", does: "on the map: open the node in the middle", run: openMiddle, onMap: true },
  { keys: ["l", "L"], label: "L", does: "lasso on or off", run: () => lasso(!isLassoing()) },
  { keys: ["s", "S"], label: "S", does: "list the selection", run: () => set({ panel: "selection" }) },
  { keys: ["c", "C"], label: "C", does: "copy a link to this view", run: () => void copyLink() },
  { keys: ["t", "T"], label: "T", does: "theme: light, dark, as the system", run: nextTheme },
  { keys: ["i", "I"], label: "I", does: "about this embedding", run: toggleAbout },
  { keys: ["Escape"], label: "Esc", does: "close what is open", run: escape },
  { keys: ["?"], label: "?", does: "this list", run: () => showKeys(shortcuts) },
];

function toggleAbout(): void {
  set({ panel: view.panel === "about" ? null : "about" });
}

/** One thing for each press: the lasso, the panel, the highlight, the node, the selection. */
function escape(): void {
  if (isLassoing()) lasso(false);
  else if (view.panel !== null) set({ panel: null });
  else if (view.highlight !== null) set({ highlight: null });
  else if (view.row !== null) set({ row: null });
  else set({ selection: [] });
}

/** Takes the view from a link, and what it does not say from the embedding. Gives its camera, if it has one. */
function restore(link: string): Camera | null {
  const { info } = world;
  const { camera, ...linked } = fromHash(link, info.nodes);
  const ready = (name: string | null | undefined, all: { name: string; state: string }[]): string | null =>
    all.find((one) => one.name === name && one.state === "ready")?.name ?? null;
  if (link.length > 1) keepColor();
  const first = link.length > 1 ? null : firstColor();
  set({
    ...linked,
    theme: linked.theme ?? storedTheme(),
    layout: ready(linked.layout, info.layouts) ?? info.layout,
    color: ready(linked.color, info.columns) ?? first,
    score: info.score_names.includes(linked.score ?? "") ? (linked.score as string) : "cosine",
  });
  return camera ?? null;
}

/** What follows from a change of the view. */
function connectView(): void {
  on(["row"], () => world.marks?.showNode(view.row === null ? null : { row: view.row, name: null, kind: "node" }));
  on(["selection"], () => {
    selection.reset();
    world.scatter?.select(view.selection);
  });
  on(["row", "panel", "selection"], drawPanel);
  on(["panel"], refit);
  on(["color", "layout"], drawControls);
  on(["color"], () => void recolor());
  on(["highlight"], paint);
  on(["layout"], () => void relayout());
  on(["theme"], () => {
    storeTheme();
    drawTheme();
    void recolor();
  });
  on(["layout", "color", "highlight", "row", "selection", "panel"], writeHashSoon);
  on(["score", "label", "exclude_linked", "theme"], writeHashSoon);
}

/** What controls and keys do. */
function connectControls(): void {
  const selectedValue = (event: Event): string => (event.target as HTMLSelectElement).value;
  byId("color").addEventListener("change", (event) => {
    keepColor();
    set({ color: selectedValue(event) || null, highlight: null });
  });
  byId("layout").addEventListener("change", (event) => set({ layout: selectedValue(event) }));
  byId("lasso").addEventListener("click", () => lasso(!isLassoing()));
  byId("fit").addEventListener("click", () => fit());
  byId("link").addEventListener("click", () => void copyLink());
  byId("theme").addEventListener("click", nextTheme);
  byId("about").addEventListener("click", toggleAbout);
  byId("help").addEventListener("click", () => showKeys(shortcuts));
  systemDark.addEventListener("change", () => {
    drawTheme();
    void recolor();
  });
  window.addEventListener("hashchange", (event) => {
    // The link as it was followed: location.hash may have been written since.
    const camera = world.info ? restore(new URL(event.newURL).hash) : null;
    if (camera) void world.scatter?.look(camera);
  });
  listen(shortcuts);
}

function makeMap(): void {
  let map: Scatter;
  try {
    map = world.scatter = new Scatter(canvas, free);
  } catch {
    showPicture();
    return;
  }
  const marks = (world.marks = new Marks(map));
  map.onDraw(() => {
    marks.draw();
    map.balance();
    const { x, y, distance } = map.camera;
    canvas.dataset.camera = [x, y, distance].join(",");
    writeHashSoon();
  });
  map.onLasso((rows) => {
    lasso(false);
    set({ selection: rows, panel: rows.length ? "selection" : view.panel === "selection" ? null : view.panel });
  });
  map.onLoss(() => cover("The map was lost", "The browser took its graphics back. Reload the page to draw it again.", again()));
  followPointer(map, marks);
  followTouches(map);
}

/** Without WebGL: a picture of the map; search and cards work as always. */
function showPicture(): void {
  document.documentElement.dataset.map = "picture";
  const picture = el("img", { src: "map.png", alt: `Map of ${count(world.info.nodes)} nodes` });
  const why = "This browser has no WebGL, so the map is a picture. Search and cards work as always.";
  const hint = "To move in it, turn on hardware acceleration in the browser's settings, or use another browser.";
  cover("A still map", why, el("p", { class: "muted" }, hint), picture);
  for (const id of ["lasso", "fit", "color", "layout"]) byId(id).setAttribute("disabled", "");
}

const again = (): HTMLElement => button("Try again", () => location.reload(), { class: "plain" });

function state(name: "ready" | "failed" | "empty"): void {
  document.documentElement.dataset.state = name;
}

async function start(): Promise<void> {
  onReach(reach);
  drawTheme();
  connectControls();
  try {
    await load();
  } catch (error) {
    reach(null); // the banner would only repeat it
    cover("The map could not be loaded", problemText(error), again());
    state("failed");
  }
}

/** Until the server has a layout to draw. */
async function waitForLayout(): Promise<void> {
  for (;;) {
    const { layouts, nodes } = world.info;
    const states = layouts.map(({ state }) => state);
    if (states.includes("ready")) return;
    if (!states.includes("working")) throw new Failure("refused", layouts[0]?.error ?? "No layout could be made.");
    if (world.scatter) cover("Laying out the map…", `${count(nodes)} nodes`);
    await new Promise((done) => setTimeout(done, LAYOUT_WAIT));
    world.info = await getInfo();
  }
}

function introduce({ name, nodes, dim }: Info): void {
  document.title = `${name} · graphrefine explore`;
  byId("title").textContent = name;
  byId("subtitle").textContent = `${count(nodes)} nodes × ${count(dim)}`;
  canvas.setAttribute("aria-label", `Map of ${count(nodes)} nodes`);
}

async function load(): Promise<void> {
  world.info = await getInfo();
  introduce(world.info);
  world.coloring = plain(world.info.nodes, tone());
  if (world.info.nodes === 0) {
    cover("This embedding has no nodes", "There is nothing to show. Make one with: graphrefine embed GRAPH -o NAME");
    return state("empty");
  }
  makeMap(); // while the server may still be laying out
  await waitForLayout();
  const camera = restore(location.hash);
  drawTheme();
  drawControls();
  await firstView(camera);
  connectView();
  state("ready");
  return follow();
}

async function firstView(camera: Camera | null): Promise<void> {
  const { scatter, info } = world;
  await Promise.all([color(), scatter ? place() : null]);
  paint();
  drawPanel();
  if (!scatter) return;
  cover(null);
  const drawn = scatter.show(world.coordinates, world.coloring.slots);
  void (camera ? scatter.look(camera, false) : scatter.fit(false));
  await drawn;
  Object.assign(canvas.dataset, { layout: view.layout ?? "", color: view.color ?? "", drawn: String(info.nodes) });
  if (view.selection.length) scatter.select(view.selection);
}

void start();
