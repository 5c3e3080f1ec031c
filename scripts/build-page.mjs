/**
 * Builds the page (packages/web → packages/web/dist) if its sources have changed since the last build, and says what it
 * did in one line. Quick when there is nothing to do: it hashes the sources and compares. `--force` builds anyway; `--dev`
 * builds it for development: slow, with the names of its sources, and with React's strict mode, which does everything twice that must be
 * without effect.
 *
 * The launcher calls `buildPage()`; `node scripts/build-page.mjs` does the same by hand.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "packages", "web");
const dist = join(web, "dist");
const stamp = join(dist, ".sources");

/** What the bundle is made of. A test's change does not change the page. */
const inputs = [
  "packages/web/src",
  "packages/web/public",
  "packages/web/index.html",
  "packages/web/vite.config.ts",
  "packages/web/package.json",
  "packages/client/src",
  "packages/kernel/src",
  "package-lock.json",
];

/** @returns {Promise<"built" | "unchanged">} */
export async function buildPage({ force = false, dev = false } = {}) {
  const mode = dev ? "development" : "production";
  const hash = hashInputs(mode);
  const isCurrent = existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
  if (isCurrent && !force) return "unchanged";
  const { build } = await import("vite");
  const before = process.env["NODE_ENV"];
  // A test run says "test", and would get the slow page that names its source files.
  process.env["NODE_ENV"] = mode;
  try {
    await build({
      root: web,
      mode,
      configFile: join(web, "vite.config.ts"),
      logLevel: "error",
      build: { emptyOutDir: true },
    });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
  writeFileSync(stamp, hash);
  return "built";
}

/** @param {string} mode */
function hashInputs(mode) {
  const hash = createHash("sha256").update(mode);
  for (const input of inputs) {
    for (const path of filesOf(join(root, input))) {
      hash.update(`${relative(root, path)}\0`);
      hash.update(readFileSync(path));
    }
  }
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!path.endsWith("src") && !path.endsWith("public")) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(test|fuzz)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const started = performance.now();
  const what = await buildPage({
    force: process.argv.includes("--force"),
    dev: process.argv.includes("--dev"),
  });
  console.log(`page ${what} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
