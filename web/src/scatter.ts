// The map itself: regl-scatterplot draws, pans, zooms and follows the lasso. It gets an index of one far point instead
// of one of all points, which would have to be built before the first frame: picking is done in pick.ts.

import createScatterplot, { createRenderer, createSpatialIndex } from "regl-scatterplot";

import { bounds, type Box, type Coordinates, crowd, nearest, within } from "./pick";

export interface Camera {
  x: number;
  y: number;
  distance: number; // half the height of the view
}

/** What of the map is not covered by panels, in CSS pixels of the window. */
export interface Free {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

type Plot = ReturnType<typeof createScatterplot>;

const FAR = 1e9;
const REACH = 12; // pixels around the pointer in which a point is meant
const MOVE_TIME = 450;
const LARGEST_MOVED = 200_000; // points that still move smoothly on slow machines
const FILL = 0.55; // how much ink the points of a full view lay on it, in views

const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function sizeOf(n: number): number {
  return Math.min(9, Math.max(1.25, 26 / n ** 0.22 - 0.3));
}

export class Scatter {
  fitted = false; // whether the whole map is shown, and nobody has moved since
  private points: number[][] = [];
  private xy: Coordinates = new Float32Array(0);
  private readonly plot: Plot;
  private readonly far: Promise<ArrayBuffer>;
  private queue: Promise<void> = Promise.resolve();
  private opacity = 1;
  private counting = 0;

  /** Throws if the browser has no WebGL. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly free: () => Free,
  ) {
    const surface = document.createElement("canvas");
    const context = surface.getContext("webgl", { antialias: false, preserveDrawingBuffer: true });
    if (!context?.getExtension("OES_texture_float")) throw new Error("no WebGL with float textures");
    const { width, height } = canvas.getBoundingClientRect();
    this.plot = createScatterplot({
      renderer: createRenderer({ canvas: surface }),
      canvas,
      width: "auto",
      height: "auto",
      syncEvents: true,
      lassoInitiator: false,
      lassoClearEvent: "lassoEnd",
      deselectOnDblClick: false,
      deselectOnEscape: false,
      opacityInactiveMax: 1,
      opacityInactiveScale: 0.2,
      pointSizeSelected: 1,
      pointOutlineWidth: 0,
      spatialIndexUseWorker: false,
    });
    this.resizeSurface(width, height);
    canvas.addEventListener("mousedown", () => this.grip(), { capture: true }); // before the library's own listener
    new ResizeObserver(() => {
      const size = canvas.getBoundingClientRect();
      this.resizeSurface(size.width, size.height);
      if (this.fitted) void this.fit(false);
    }).observe(canvas);
    this.far = createSpatialIndex([[FAR, FAR]], false);
  }

  private resizeSurface(width: number, height: number): void {
    const renderer = this.plot.get("renderer");
    renderer.resize(Math.max(1, width), Math.max(1, height));
    this.plot.refresh();
    this.plot.redraw();
  }

  /**
   * Takes hold of the map where the pointer is. The camera looks at the pointer once a frame; where the way to a node
   * and the press on it fall into one frame, it would take that way for a drag and pan by all of it.
   */
  private grip(): void {
    const camera = this.plot.get("camera") as unknown as { tick(): boolean; view: number[]; setView(view: number[]): void };
    if (camera.tick()) camera.setView(camera.view); // still a change: the next frame is to see it
  }

  /** Puts points where `xy` says, colored by `slots`. Resolves when they are on the screen. */
  show(xy: Coordinates, slots: Uint8Array): Promise<void> {
    const before = this.points.length;
    const moved = xy !== this.xy;
    const n = xy.length / 2;
    if (before === n) {
      for (let i = 0; i < n; i++) {
        const point = this.points[i];
        point[0] = xy[2 * i];
        point[1] = xy[2 * i + 1];
        point[2] = slots[i];
      }
    } else {
      this.points = new Array<number[]>(n);
      for (let i = 0; i < n; i++) this.points[i] = [xy[2 * i], xy[2 * i + 1], slots[i], 0];
    }
    this.xy = xy;
    if (before === 0) void this.plot.set({ opacity: (this.opacity = this.ink()) });
    const transition = moved && before === n && n <= LARGEST_MOVED && !calm();
    return this.later(async () => {
      await this.plot.draw(this.points, {
        spatialIndex: await this.far,
        zDataType: "categorical",
        transition,
        transitionDuration: MOVE_TIME * 2,
      });
      this.balance();
    });
  }

  private later(work: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(work, work);
    return this.queue;
  }

  colors(colors: string[], background: string, n: number): void {
    void this.plot.set({
      colorBy: "valueZ",
      // One color alone would be read as "not colored by anything", so there are always two.
      pointColor: [...colors, background],
      backgroundColor: background,
      pointSize: sizeOf(n),
      lassoColor: "#888888",
    });
  }

  select(rows: number[]): void {
    this.plot.select([...rows], { preventEvent: true });
  }

  onDraw(drawn: () => void): void {
    this.plot.subscribe("drawing", drawn);
  }

  onLasso(select: (rows: number[]) => void): void {
    this.plot.subscribe("lassoEnd", (event) => {
      const polygon = (event as unknown as { coordinates: [number, number][] }).coordinates;
      select(polygon.length > 2 ? within(this.xy, polygon) : []);
    });
  }

  onLoss(lost: () => void): void {
    this.plot.get("renderer").canvas.addEventListener("webglcontextlost", lost);
  }

  lasso(active: boolean): void {
    void this.plot.set({ mouseMode: active ? "lasso" : "panZoom" });
  }

  get camera(): Camera {
    const [x, y] = this.plot.get("cameraTarget");
    // The library gives the distance as a pair when it is asked for it.
    const distance = this.plot.get("cameraDistance") as unknown as number | number[];
    return { x, y, distance: Array.isArray(distance) ? distance[0] : Number(distance) };
  }

  look(camera: Camera, smooth = true): Promise<void> {
    this.fitted = false;
    const transition = smooth && !calm() && this.points.length <= LARGEST_MOVED;
    return this.plot
      .zoomToLocation([camera.x, camera.y], camera.distance, { transition, transitionDuration: MOVE_TIME })
      .then(() => this.balance());
  }

  /** Shows the whole map, and goes on to do so when panels come and go, until somebody moves. */
  fit(smooth = true): Promise<void> {
    const looked = this.look(this.frame(), smooth);
    this.fitted = true;
    return looked;
  }

  /** The whole of the map, or of some rows, into the free part of the view. */
  frame(rows: number[] | null = null): Camera {
    let xy = this.xy;
    if (rows) {
      xy = new Float32Array(rows.length * 2);
      rows.forEach((row, i) => xy.set([this.xy[2 * row], this.xy[2 * row + 1]], 2 * i));
    }
    const box = bounds(xy);
    const free = this.free();
    const height = this.canvas.clientHeight;
    const wide = Math.max(box.right - box.left, 0.02) / Math.max(free.right - free.left, 60);
    const tall = Math.max(box.top - box.bottom, 0.02) / Math.max(free.bottom - free.top, 60);
    const distance = (Math.max(wide, tall) * height) / 2 / 0.94;
    return this.centered((box.left + box.right) / 2, (box.bottom + box.top) / 2, distance);
  }

  /** A camera that sees (x, y) in the middle of the free part of the view. */
  private centered(x: number, y: number, distance: number): Camera {
    const free = this.free();
    const unit = (2 * distance) / this.canvas.clientHeight;
    const dx = (free.left + free.right - this.canvas.clientWidth) / 2;
    const dy = (free.top + free.bottom - this.canvas.clientHeight) / 2;
    return { x: x - dx * unit, y: y + dy * unit, distance };
  }

  /** A camera that sees one node and what is around it. */
  near(row: number): Camera {
    const n = this.xy.length / 2;
    const close = Math.min(0.6, Math.max(0.04, 12 / Math.sqrt(n)));
    return this.centered(this.xy[2 * row], this.xy[2 * row + 1], Math.min(this.camera.distance, close));
  }

  /** A camera that sees one node in the middle, from as far as now. */
  same(row: number): Camera {
    return this.centered(this.xy[2 * row], this.xy[2 * row + 1], this.camera.distance);
  }

  /** Where a node is, in pixels of the canvas. */
  place(row: number): [number, number] {
    const { x, y, distance } = this.camera;
    const half = this.canvas.clientHeight / 2;
    const left = this.canvas.clientWidth / 2 + ((this.xy[2 * row] - x) / distance) * half;
    return [left, half - ((this.xy[2 * row + 1] - y) / distance) * half];
  }

  /** The node under a place of the canvas, or null. */
  at(left: number, top: number, reach = REACH): number | null {
    const { x, y, distance } = this.camera;
    const unit = distance / (this.canvas.clientHeight / 2);
    const pointX = x + (left - this.canvas.clientWidth / 2) * unit;
    const pointY = y - (top - this.canvas.clientHeight / 2) * unit;
    return nearest(this.xy, pointX, pointY, reach * unit);
  }

  private box(): Box {
    const { x, y, distance } = this.camera;
    const wide = (distance * this.canvas.clientWidth) / this.canvas.clientHeight;
    return { left: x - wide, right: x + wide, bottom: y - distance, top: y + distance };
  }

  /** How opaque points are, by how many are in view and how much they crowd: density stays visible at any zoom. */
  private ink(): number {
    const { inside, share } = crowd(this.xy, this.box());
    const zoom = Math.max(1, Math.asinh(Math.max(1, 1 / this.camera.distance)) / Math.asinh(1));
    const size = sizeOf(this.xy.length / 2) * zoom;
    const area = this.canvas.clientWidth * this.canvas.clientHeight * Math.sqrt(share);
    return Math.min(0.9, Math.max(0.08, (FILL * area) / (Math.max(1, inside) * 0.785 * size * size)));
  }

  /** Sets that a moment after the view has come to rest. */
  balance(): void {
    clearTimeout(this.counting);
    this.counting = window.setTimeout(() => {
      const opacity = this.ink();
      if (Math.abs(opacity - this.opacity) < 0.02) return;
      this.opacity = opacity;
      void this.plot.set({ opacity });
    }, 60);
  }
}
