// Fingers on the map: one pans, two zoom. What lies under them stays under them. (A tap is a click: pointer.ts.)

import type { Camera, Scatter } from "./scatter";
import { canvas } from "./world";

type Place = [number, number];

interface Grip {
  x: number; // the middle of the fingers, in pixels from the middle of the map
  y: number;
  spread: number; // how far they are apart
}

function grip(fingers: Place[]): Grip {
  const [first, second = first] = fingers;
  return {
    x: (first[0] + second[0]) / 2 - canvas.clientWidth / 2,
    y: (first[1] + second[1]) / 2 - canvas.clientHeight / 2,
    spread: Math.hypot(first[0] - second[0], first[1] - second[1]),
  };
}

/** The camera after the fingers went from one grip to another. */
export function dragged(camera: Camera, from: Grip, to: Grip, height: number): Camera {
  const zoom = from.spread > 0 && to.spread > 0 ? from.spread / to.spread : 1;
  const before = (2 * camera.distance) / height;
  const after = before * zoom;
  return {
    x: camera.x + from.x * before - to.x * after,
    y: camera.y - from.y * before + to.y * after,
    distance: camera.distance * zoom,
  };
}

export function followTouches(map: Scatter): void {
  const fingers = new Map<number, Place>();
  const held = (): Place[] => [...fingers.values()].slice(0, 2);
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const from = grip(held());
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    void map.look(dragged(map.camera, from, grip(held()), canvas.clientHeight), false);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
}
