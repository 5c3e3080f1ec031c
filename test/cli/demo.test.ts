/** `blockyard demo` as people run it: with a server of its own, and in the workspace of one that runs. */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { jsonLines, newPlace, removePlace, run, serve } from "./command.ts";

const here = newPlace();
afterAll(() => removePlace(here));

const LIMIT_MS = 90_000;

it(
  "[U18] plays on a server of its own, loses nothing, and leaves nothing",
  async () => {
    const temporary = mkdtempSync(join(here.folder, "tmp-"));
    const { code, stdout, stderr } = await run(here, ["demo", "--seconds", "3", "--json"], {
      env: { TMPDIR: temporary },
    });
    expect([code, stderr]).toEqual([0, ""]);
    const [verdict] = jsonLines(stdout);
    expect(verdict).toMatchObject({ ok: true, wrong: [], seconds: 3 });
    expect(verdict?.["deeds"]).toMatchObject({ inserted: expect.any(Number), undid: expect.any(Number) });
    expect(verdict?.["lines"]).toBeGreaterThan(0);
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(here.home)).toBe(false);
  },
  LIMIT_MS,
);

it(
  "[U18] each agent acts, however short the time or slow the machine",
  async () => {
    const { code, stdout } = await run(here, ["demo", "--seconds", "0.001", "--json"]);
    const [verdict] = jsonLines(stdout);
    expect([code, verdict?.["ok"]]).toEqual([0, true]);
    const { inserted, patched, retried } = (verdict?.["deeds"] ?? {}) as Record<string, number>;
    expect((inserted ?? 0) + (patched ?? 0) + (retried ?? 0)).toBeGreaterThanOrEqual(3);
  },
  LIMIT_MS,
);

it(
  "[U18] plays in the workspace of the running server, says what happens, and scribbles into nobody's file",
  async () => {
    const server = await serve(here);
    const { code, stdout } = await run(here, ["demo", "--seconds", "2", "--here"]);
    expect(stdout).toContain("Nothing was lost");
    expect(stdout).toMatch(/http:\S+\/files\?path=blockyard-demo%2Fshop\.ts&link=/);
    expect(stdout).toMatch(/ s {2}(ada|grace|alan) +(inserted|patched)/);
    expect(code).toBe(0);
    const file = join(here.folder, "work/blockyard-demo/shop.ts");
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/\/\/ (ada|grace|alan)-\w+ \d+: /);
    expect(JSON.parse(readFileSync(join(here.home, "tokens.json"), "utf8"))).toEqual([]);
    const again = await run(here, ["demo", "--seconds", "2", "--here"]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
    await server.stop();
    expect(readFileSync(file, "utf8")).toBe(text);
  },
  LIMIT_MS,
);

it("[U18] [U4] says what is wrong with what it was given", async () => {
  for (const args of [["--seconds", "0"], ["--seconds", "x"], ["--here", "--stay"], ["more"]]) {
    const { code, stderr } = await run(here, ["demo", ...args]);
    expect([args, code]).toEqual([args, 2]);
    expect(stderr).toMatch(/^blockyard: /);
  }
  const { code, stderr } = await run(here, ["demo", "--here"]);
  expect([code, stderr]).toEqual([1, "blockyard: no server is running. Start one: blockyard\n"]);
});
