/**
 * The moving picture of the README: a first start, as somebody watches it for twenty seconds. The recorded story is played on a real
 * server in a real browser, a tenth of a second at a time, with a picture of each: so that it looks the same from a busy machine. The
 * pictures become an animated WebP.
 *
 *   node scripts/run.mjs scripts/capture.mjs                   docs/screens/demo.webp
 *   node scripts/run.mjs scripts/capture.mjs --out <file>      somewhere else
 *   … --frames <folder>                                        keeps the single pictures, to look at
 *
 * Needs img2webp of Debian's package `webp`; where it is missing and can be installed, it is.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openShowcase, openStories } from "../test/e2e/page/showcase.ts";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ file: string, ms: number }} Frame */

/** Wide enough for the side pane to stand beside the conversation. */
const WINDOW = { width: 1280, height: 800 };
const FRAME_MS = 100;
const FRAMES = 200;
/** Playback speed: slow enough to follow, and over before the changes are shown. */
const SPEED = 0.8;
/** The last picture stays before it starts over. */
const END_MS = 1_500;
const QUALITY = 80;
const MOST_BYTES = 3_000_000;

const NEXT = "Now show the saved amount on the invoice";
/** What the viewer does, by tenths of a second. @type {ReadonlyMap<number, (page: Page) => Promise<unknown>>} */
const DEEDS = new Map([
  [14, (page) => page.getByText("Watch an agent work").hover()],
  [20, (page) => page.getByText("Watch an agent work").click()],
  // Where it would show a block's actions.
  [21, (page) => page.mouse.move(WINDOW.width / 2, WINDOW.height - 2)],
  [138, (page) => page.keyboard.press("Escape")],
  [140, (page) => page.keyboard.press("]")],
  [162, (page) => page.keyboard.press("n")],
  ...[...NEXT]
    .map((letter, i) => /** @type {const} */ ([164 + Math.floor(i * 0.75), letter]))
    .reduce(typed, []),
]);

const { values } = parseArgs({ options: { out: { type: "string" }, frames: { type: "string" } } });
const out = values.out ?? fileURLToPath(new URL("../docs/screens/demo.webp", import.meta.url));
const folder = values.frames ?? mkdtempSync(join(tmpdir(), "blockyard-frames-"));
mkdirSync(folder, { recursive: true });
mkdirSync(dirname(out), { recursive: true });
const program = encoder();
const showcase = await openShowcase();
const frames = await record();
await showcase.close();
encode(frames);
if (values.frames === undefined) rmSync(folder, { recursive: true });
const { size } = statSync(out);
console.log(`${out}: ${frames.length} pictures, ${(size / 1e6).toFixed(2)} MB`);
process.exit(size <= MOST_BYTES ? 0 : 1);

/**
 * Several letters in one tenth are typed together.
 * @param {[number, (page: Page) => Promise<unknown>][]} deeds
 * @param {readonly [number, string]} next
 * @returns {[number, (page: Page) => Promise<unknown>][]}
 */
function typed(deeds, [at, letter]) {
  const before = deeds.at(-1);
  if (before?.[0] !== at) return [...deeds, [at, (page) => page.keyboard.type(letter)]];
  const [, first] = before;
  return [...deeds.slice(0, -1), [at, (page) => first(page).then(() => page.keyboard.type(letter))]];
}

async function record() {
  const stories = await openStories(showcase);
  const { page, context } = await showcase.open("/", WINDOW);
  await page.getByText("Watch an agent work").waitFor();
  /** @type {Frame[]} */
  const taken = [];
  /** @type {Buffer | undefined} */
  let last;
  for (let at = 0; at < FRAMES; at++) {
    for (const story of stories) await story.playTo(at * FRAME_MS * SPEED);
    await DEEDS.get(at)?.(page);
    await drawn(page);
    const picture = await page.screenshot();
    const before = taken.at(-1);
    if (before && last?.equals(picture)) taken.splice(-1, 1, { ...before, ms: before.ms + FRAME_MS });
    else {
      const file = join(folder, `${String(at).padStart(4, "0")}.png`);
      writeFileSync(file, picture);
      taken.push({ file, ms: FRAME_MS });
    }
    last = picture;
  }
  for (const story of stories) await story.end();
  await context.close();
  return taken;
}

/** New content is on the screen. @param {Page} page */
async function drawn(page) {
  await page.waitForTimeout(FRAME_MS);
  await page.getByText("Opening…").waitFor({ state: "detached" });
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

/** @param {readonly Frame[]} taken */
function encode(taken) {
  const args = ["-loop", "0", "-lossy", "-q", String(QUALITY), "-m", "4", "-mixed"];
  for (const [i, { file, ms }] of taken.entries())
    args.push("-d", String(i === taken.length - 1 ? ms + END_MS : ms), file);
  execFileSync(program, [...args, "-o", out], { stdio: ["ignore", "ignore", "inherit"] });
}

function encoder() {
  const name = "img2webp";
  try {
    execFileSync(name, ["-version"], { stdio: "ignore" });
  } catch {
    try {
      execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "webp"], { stdio: "ignore" });
    } catch {
      console.error("This needs img2webp: apt-get install webp");
      process.exit(1);
    }
  }
  return name;
}
