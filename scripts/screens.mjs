/**
 * Pictures of the page's states, from recordings and a scripted agent on a real server in a real browser.
 *
 *   node scripts/run.mjs scripts/screens.mjs                        the pictures of docs/screens
 *   node scripts/run.mjs scripts/screens.mjs --gallery              every state, in both themes, at three widths, in dist/gallery
 *   node scripts/run.mjs scripts/screens.mjs --gallery home costs   only these
 *   … --looks light-phone,dark-wide                               only these themes and widths
 *   … --out <folder>                                                the gallery somewhere else
 *   … --axe                                                         also what axe finds in each, in both themes, narrow and wide;
 *                                                                   and targets that are too small for a finger
 *
 * A state that cannot be reached, and each finding, is a line on stderr, and the exit code is 1.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { axeFindings } from "../test/e2e/page/axe.ts";
import { edgeStates, fillEdges, fillMany } from "../test/e2e/page/edges.ts";
import { fill, firstStart, openShowcase } from "../test/e2e/page/showcase.ts";
import { FIRST_START, statesOf } from "../test/e2e/page/states.ts";
import { smallTargets } from "../test/e2e/page/targets.ts";

/** @typedef {import("../test/e2e/page/states.ts").State} State */
/** @typedef {"light" | "dark"} Theme */
/** @typedef {keyof typeof WIDTHS} Width */

const WIDTHS = {
  phone: { width: 390, height: 844, touch: true },
  wide: { width: 1400, height: 900 },
  widest: { width: 1920, height: 1080 },
};
/** What docs show: a state, its theme, its width, and the picture's name. */
const DOCS = /** @type {const} */ ([
  ["changes", "light", "wide", "conversation"],
  ["changes", "dark", "wide", "conversation-dark"],
  ["permission-edit", "light", "phone", "permission-phone"],
  ["run-again", "light", "wide", "run-again"],
  ["file-together", "light", "wide", "file-together"],
  ["costs", "light", "wide", "costs"],
]);
/** A picture is taken when nothing moves any more. */
const LOADED_MS = 900;
const STILL_MS = 600;
const REACHED_MS = 8_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ gallery: { type: "boolean" }, axe: { type: "boolean" } },
    ...{ out: { type: "string" }, looks: { type: "string" } },
  },
});
const under = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}/`, import.meta.url));
const folder = values.out ?? under(values.gallery ? "dist/gallery" : "docs/screens");
mkdirSync(folder, { recursive: true });

let wrong = 0;
const showcase = await openShowcase();
const first = await firstStart(showcase);
await drawAll([FIRST_START]);
const states = [FIRST_START, ...statesOf(showcase, { ...first, ...(await fill(showcase)) })];
await drawAll(states.slice(1));
if (values.gallery) {
  const edges = edgeStates(await fillEdges(showcase));
  await drawAll(edges);
  const many = await fillMany(showcase);
  await drawAll(many);
  writeIndex([...states, ...edges, ...many].map(({ name }) => name));
}
await showcase.close();
process.exit(wrong === 0 ? 0 : 1);

/** @param {readonly State[]} all */
async function drawAll(all) {
  for (const state of all) {
    if (!values.gallery) {
      for (const [name, theme, width, picture] of DOCS)
        if (name === state.name) await draw(state, theme, width, picture);
    } else if (positionals.length === 0 || positionals.includes(state.name))
      for (const [theme, width] of looks())
        await draw(state, theme, width, `${state.name}-${theme}-${width}`);
  }
}

/** @type {(state: State, theme: Theme, width: Width, picture: string) => Promise<void>} */
async function draw(state, theme, width, picture) {
  const { page, context } = await showcase.open(state.path, { ...WIDTHS[width], dark: theme === "dark" });
  page.setDefaultTimeout(REACHED_MS);
  try {
    await page.waitForTimeout(LOADED_MS);
    await state.act?.(page);
    await page.waitForFunction(isColoured).catch(() => undefined);
    await page.waitForTimeout(STILL_MS);
    await page.screenshot({ path: join(folder, `${picture}.png`) });
    console.log(`${picture}.png`);
    if (values.axe && theme === "light" && width !== "widest") {
      if (width === "phone") for (const each of await smallTargets(page)) report(picture, each);
      // Which heading a text begins with is its writer's.
      for (const each of await axeFindings(page))
        if (!/heading-order: <h\d class="md-/.test(each)) report(picture, each);
    }
  } catch (error) {
    // On a busy machine the picture itself may have taken too long.
    await page.screenshot({ path: join(folder, `${picture}.png`) }).catch(() => undefined);
    report(picture, String(error instanceof Error ? error.message : error).split("\n")[0] ?? "");
  }
  await context.close();
}

/** Whether both sides of each diff have their colours; on a busy machine they are late. Runs in the page. */
function isColoured() {
  return [...document.querySelectorAll(".diff")].every((diff) =>
    [".add", ".delete"].every(
      (side) => !diff.querySelector(side) || diff.querySelector(`${side} [class^="t-"]`),
    ),
  );
}

/** @type {(picture: string, what: string) => void} */
function report(picture, what) {
  wrong++;
  console.error(`${picture}: ${what}`);
}

/** @returns {readonly (readonly [Theme, Width])[]} */
function looks() {
  const widths = /** @type {Width[]} */ (Object.keys(WIDTHS));
  const wanted = values.looks?.split(",");
  return /** @type {const} */ (["light", "dark"]).flatMap((theme) =>
    widths
      .filter((width) => wanted === undefined || wanted.includes(`${theme}-${width}`))
      .map((width) => /** @type {const} */ ([theme, width])),
  );
}

/** A page that shows what is there side by side. @param {readonly string[]} names */
function writeIndex(names) {
  const there = new Set(readdirSync(folder));
  const rows = names.map((name) => {
    const pictures = looks().map(([theme, width]) => {
      const file = `${name}-${theme}-${width}.png`;
      return there.has(file)
        ? `<a href="${file}"><img src="${file}" alt="${name}, ${theme}, ${width}" height="300" loading="lazy"></a>`
        : "";
    });
    return `<h2>${name}</h2><p>${pictures.join(" ")}</p>`;
  });
  const style = "body{font:14px system-ui;margin:24px}img{border:1px solid #ccc;border-radius:6px}";
  writeFileSync(
    join(folder, "index.html"),
    `<!doctype html><meta charset="utf-8"><title>The page</title><style>${style}</style><h1>The page</h1>${rows.join("\n")}\n`,
  );
  console.log(join(folder, "index.html"));
}
