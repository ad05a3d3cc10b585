// Builds the page into src/graphrefine/explore/page/: the same bytes from the same sources, wherever it runs.
// Files lie there as they are addressed: index.html is /, assets/app.js is /assets/app.js.
// `node build.mjs DIR` builds into another folder.

import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const replaced = { regl: "./src/gl.ts" }; // so that the page runs without 'unsafe-eval'; see there
const target = resolve(process.argv[2] ?? join(here, "../src/graphrefine/explore/page"));

/** The packages whose code is in the bundle, by name: those esbuild took files of, and what these carry inside them. */
async function bundled(metafile) {
  const seen = new Set();
  const todo = Object.keys(metafile.inputs).flatMap((input) => {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    return found ? [found[1]] : [];
  });
  while (todo.length) {
    const name = todo.pop();
    if (seen.has(name) || name in replaced) continue;
    seen.add(name);
    const about = JSON.parse(await readFile(join(here, "node_modules", name, "package.json"), "utf8"));
    todo.push(...Object.keys(about.dependencies ?? {}));
  }
  return [...seen].sort();
}

async function license(name) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file; it cannot be bundled`);
  const text = (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n").trim();
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
}

const assets = join(target, "assets");
await mkdir(assets, { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts" },
  outdir: assets,
  bundle: true,
  alias: replaced,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // LICENSES.txt has the whole texts
  metafile: true,
  logLevel: "warning",
});
await build({ absWorkingDir: here, entryPoints: ["src/app.css"], outdir: assets, minify: true, logLevel: "warning" });
await copyFile(join(here, "src/index.html"), join(target, "index.html"));
const texts = await Promise.all((await bundled(metafile)).map(license));
const rule = `\n${"-".repeat(80)}\n\n`;
const intro =
  "The page of graphrefine explore contains these packages, under their own licenses. regl-scatterplot carries\n" +
  "KDBush (c) 2018 Vladimir Agafonkin inside it, under the ISC license that stands with earcut.\n";
await writeFile(join(assets, "LICENSES.txt"), [intro, ...texts].join(rule));
