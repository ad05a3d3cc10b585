"use strict";
(() => {
  const NONE = 255, CELLS = 256, NEAR = 14;
  const data = JSON.parse(document.getElementById("data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const count = data.count, classes = data.classes, names = data.names;
  const coordinates = new Uint16Array(bytes(data.coordinates).buffer);
  const codes = data.codes ? bytes(data.codes) : new Uint8Array(count).fill(NONE);
  const canvas = document.getElementById("map"), context = canvas.getContext("2d");
  const tip = document.getElementById("tip"), status = document.getElementById("status");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const visible = new Array(256).fill(true);
  const view = { x: 0.5, y: 0.5, zoom: 1 };
  let selected = -1, waiting = false, pixels = null;

  // Points by cell of a grid, so that the search for the one nearest to the pointer need not look at all.
  const cellOf = (i) => (coordinates[2 * i + 1] >> 8) * CELLS + (coordinates[2 * i] >> 8);
  const starts = new Uint32Array(CELLS * CELLS + 1), members = new Uint32Array(count);
  for (let i = 0; i < count; i++) starts[cellOf(i) + 1]++;
  for (let c = 0; c < CELLS * CELLS; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < count; i++) members[next[cellOf(i)]++] = i;

  // The order of drawing: points without a class first, the others mixed, so that none hides another.
  const order = new Uint32Array(count);
  let seed = 1;
  const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
  for (let i = 0; i < count; i++) order[i] = i;
  for (let i = count - 1; i > 0; i--) {
    const j = random(i + 1), last = order[i];
    order[i] = order[j];
    order[j] = last;
  }

  const color = (code) => {
    const theme = dark.matches ? "dark" : "light";
    if (!classes.length) return data.single[theme];
    return code < data[theme].length ? data[theme][code] : data.other[theme];  // beyond the palette, and without a class
  };
  const word = (hex) => {
    const value = parseInt(hex.slice(1), 16);
    return (0xff000000 | (value & 255) << 16 | value & 0xff00 | value >> 16) >>> 0;
  };
  const side = () => Math.min(canvas.width, canvas.height) * 0.94 * view.zoom;
  const left = (x) => (x / 65535 - view.x) * side() + canvas.width / 2;
  const top = (y) => (view.y - y / 65535) * side() + canvas.height / 2;

  const draw = () => {
    waiting = false;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height || !pixels) {
      canvas.width = width;
      canvas.height = height;
      pixels = context.createImageData(width, height);
    }
    const image = new Uint32Array(pixels.data.buffer).fill(0);
    const words = new Uint32Array(256);
    for (let code = 0; code < 256; code++) words[code] = word(color(code));
    const scale = side() / 65535, dx = width / 2 - view.x * side(), dy = height / 2 + view.y * side();
    const wide = Math.min(4.5, 90 / Math.sqrt(count) + 0.25) * ratio * Math.sqrt(view.zoom);
    const radius = Math.max(0, Math.min(Math.round(wide), Math.round(7 * ratio)));
    for (let pass = 0; pass < 2; pass++)
      for (let at = 0; at < count; at++) {
        const i = order[at], code = codes[i];
        if ((code === NONE) !== (pass === 0) || !visible[code]) continue;
        const x = coordinates[2 * i] * scale + dx | 0, y = dy - coordinates[2 * i + 1] * scale | 0;
        if (x < -radius || y < -radius || x >= width + radius || y >= height + radius) continue;
        for (let down = -radius; down <= radius; down++) {
          if (y + down < 0 || y + down >= height) continue;
          const reach = Math.sqrt(radius * radius - down * down) | 0;
          const from = Math.max(0, x - reach), to = Math.min(width - 1, x + reach);
          if (from <= to) image.fill(words[code], (y + down) * width + from, (y + down) * width + to + 1);
        }
      }
    context.putImageData(pixels, 0, 0);
    if (selected >= 0) ring(selected, ratio);
  };
  const ring = (i, ratio) => {
    context.strokeStyle = getComputedStyle(document.body).color;
    context.lineWidth = 2 * ratio;
    context.beginPath();
    context.arc(left(coordinates[2 * i]), top(coordinates[2 * i + 1]), 9 * ratio, 0, 2 * Math.PI);
    context.stroke();
  };
  const redraw = () => {
    if (!waiting) window.requestAnimationFrame(draw);
    waiting = true;
  };

  const nearest = (x, y) => {
    const ratio = window.devicePixelRatio || 1, unit = 65535 / side(), reach = NEAR * ratio * unit;
    const px = ((x * ratio - canvas.width / 2) / side() + view.x) * 65535;
    const py = (view.y - (y * ratio - canvas.height / 2) / side()) * 65535;
    const cell = (value) => Math.max(0, Math.min(CELLS - 1, value / 256 | 0));
    let best = -1, least = reach * reach;
    for (let row = cell(py - reach); row <= cell(py + reach); row++)
      for (let at = starts[row * CELLS + cell(px - reach)]; at < starts[row * CELLS + cell(px + reach) + 1]; at++) {
        const i = members[at], a = coordinates[2 * i] - px, b = coordinates[2 * i + 1] - py;
        if (a * a + b * b < least && visible[codes[i]]) {
          least = a * a + b * b;
          best = i;
        }
      }
    return best;
  };
  const about = (i) => String(names[i]) + (codes[i] === NONE ? "" : ": " + classes[codes[i]][0]);
  const point = (i, x, y) => {
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = about(i);
    tip.style.left = Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4) + "px";
    tip.style.top = Math.min(y + 14, canvas.clientHeight - tip.offsetHeight - 4) + "px";
  };
  const zoom = (factor, x, y) => {
    const ratio = window.devicePixelRatio || 1;
    const a = (x * ratio - canvas.width / 2) / side(), b = (y * ratio - canvas.height / 2) / side();
    const before = view.zoom;
    view.zoom = Math.min(500, Math.max(0.5, view.zoom * factor));
    const change = 1 - before / view.zoom;
    view.x += a * change;
    view.y -= b * change;
    redraw();
  };

  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return point(nearest(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
    const ratio = window.devicePixelRatio || 1, dx = event.offsetX - before[0], dy = event.offsetY - before[1];
    if (pointers.size === 2) {
      const [one, other] = [...pointers.values()], fixed = one === before ? other : one;
      const was = Math.hypot(before[0] - fixed[0], before[1] - fixed[1]);
      const is = Math.hypot(event.offsetX - fixed[0], event.offsetY - fixed[1]);
      zoom(is / Math.max(was, 1), fixed[0], fixed[1]);
    } else {
      view.x -= dx * ratio / side();
      view.y += dy * ratio / side();
      moved += Math.abs(dx) + Math.abs(dy);
    }
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    redraw();
  });
  const release = (event) => {
    if (pointers.delete(event.pointerId) && moved < 4 && event.type === "pointerup")
      select(nearest(event.offsetX, event.offsetY), false);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(2, event.offsetX, event.offsetY));
  const all = () => {
    Object.assign(view, { x: 0.5, y: 0.5, zoom: 1 });
    redraw();
  };
  const keys = {
    ArrowLeft: () => (view.x -= 0.1 / view.zoom), ArrowRight: () => (view.x += 0.1 / view.zoom),
    ArrowUp: () => (view.y += 0.1 / view.zoom), ArrowDown: () => (view.y -= 0.1 / view.zoom),
    "+": () => zoom(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "=": () => zoom(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "-": () => zoom(1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    0: all,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    redraw();
  });

  const select = (i, center) => {
    selected = i;
    status.textContent = i < 0 ? "" : about(i);
    if (i >= 0 && center) {
      view.x = coordinates[2 * i] / 65535;
      view.y = coordinates[2 * i + 1] / 65535;
      view.zoom = Math.max(view.zoom, 6);
    }
    redraw();
  };
  document.getElementById("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const query = document.getElementById("name").value.trim(), low = query.toLowerCase();
    if (!query) return;
    const text = (name) => String(name).toLowerCase();
    let row = names.findIndex((name) => String(name) === query);
    if (row < 0) row = names.findIndex((name) => text(name).startsWith(low));
    if (row < 0) row = names.findIndex((name) => text(name).includes(low));
    select(row, true);
    if (row < 0) status.textContent = "no node is called " + query;
  });

  const legend = document.getElementById("legend");
  const entries = classes.map(([name, many], code) => [name, many, code]);
  if (classes.length && data.unlabeled) entries.push(["no label", data.unlabeled, NONE]);
  const dots = entries.map(([name, many, code]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const parts = ["dot", "name", "count"].map((kind) => {
      const part = document.createElement("span");
      part.className = kind;
      return button.appendChild(part);
    });
    parts[1].textContent = name;
    parts[2].textContent = many.toLocaleString("en");
    button.addEventListener("click", () => {
      visible[code] = !visible[code];
      button.setAttribute("aria-pressed", String(visible[code]));
      redraw();
    });
    legend.appendChild(button);
    return [parts[0], code];
  });
  const paint = () => {
    dots.forEach(([dot, code]) => (dot.style.background = color(code)));
    redraw();
  };
  dark.addEventListener("change", paint);
  new ResizeObserver(redraw).observe(canvas);
  paint();
})();
