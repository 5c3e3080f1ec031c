/** `blockyard bench` as people run it: a process of its own, with and without something to search. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fixtures, jsonLines, newPlace, type Place, removePlace, run } from "./command.ts";

const LIMIT_MS = 90_000;
const places: Place[] = [];
const place = () => places[places.push(newPlace()) - 1] as Place;

afterAll(() => places.forEach(removePlace));

it(
  "[U2] [U17] measures in a folder of its own, and prints one figure per line for programs",
  async () => {
    const here = place();
    const input = readFileSync(join(fixtures, "claude/subagent.jsonl"));
    await run(here, ["ingest", "--quiet"], { input });
    const kept = await run(here, ["ls", "--json"]);
    const { code, stdout, stderr } = await run(here, ["bench", "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const findings = jsonLines(stdout);
    expect(findings.map(({ check, unit }) => [check, unit])).toEqual([
      ["durable appends, 10 streams", "per s"],
      ["latency of a line to a viewer, p50", "ms"],
      ["latency of a line to a viewer, p99", "ms"],
      ["search for a common word, 20 blocks", "ms"],
      ["search with no match", "ms"],
    ]);
    for (const { value, floor = 1, ratio = 1 } of findings)
      for (const figure of [value, floor, ratio]) expect(figure).toBeGreaterThan(0);
    expect(readdirSync(here.home).filter((name) => name.startsWith("bench-"))).toEqual([]);
    expect((await run(here, ["ls", "--json"])).stdout).toBe(kept.stdout);
  },
  LIMIT_MS,
);

it(
  "[U17] makes no home where there is none, and searches nothing",
  async () => {
    const here = place();
    const { code, stdout } = await run(here, ["bench"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^durable appends, 10 streams\s+[\d,.]+ per s\s+SQLite alone: [\d,.]+ per s \([\d.]+ x\)$/m,
    );
    expect(stdout).not.toContain("search");
    expect(readdirSync(here.folder)).not.toContain("yard");
  },
  LIMIT_MS,
);
