/** Small work that many request at once: one in each round of the event loop. */
import { expect, it } from "vitest";
import { Rounds } from "./rounds.ts";

it("[AC261] each round does one item, in order, whatever the items do", () => {
  const queued: (() => void)[] = [];
  const rounds = new Rounds({ later: (round) => queued.push(round) });
  const done: string[] = [];
  const seen: number[] = [];
  const round = () => {
    const before = done.length;
    for (const next of queued.splice(0)) {
      try {
        next();
      } catch {
        done.push("threw");
      }
    }
    seen.push(done.length - before);
  };
  rounds.enter(() => done.push("a"));
  rounds.enter(() => {
    throw new Error("b");
  });
  rounds.enter(() => {
    done.push("c");
    rounds.enter(() => done.push("d"));
  });
  for (let n = 0; n < 6; n++) round();
  rounds.enter(() => done.push("e"));
  round();
  expect(done).toEqual(["a", "threw", "c", "d", "e"]);
  expect(seen).toEqual([1, 1, 1, 1, 0, 0, 1]);
});

it("[AC261] while the owner waits they wait, and not for ever", () => {
  const queued: (() => void)[] = [];
  let isHeld = true;
  const rounds = new Rounds({ later: (round) => queued.push(round), isHeld: () => isHeld });
  const done: string[] = [];
  rounds.enter(() => done.push("a"));
  rounds.enter(() => done.push("b"));
  const round = () => {
    for (const next of queued.splice(0)) next();
  };
  for (let n = 0; n < 10; n++) round();
  expect(done).toEqual([]);
  isHeld = false;
  round();
  expect(done).toEqual(["a"]);
  isHeld = true;
  for (let n = 0; n < 100; n++) round();
  expect(done).toEqual(["a", "b"]);
});

it("[AC261] other events run in between, however many wait", async () => {
  const rounds = new Rounds();
  let done = 0;
  for (let n = 0; n < 100; n++) rounds.enter(() => done++);
  const seen: number[] = [];
  for (let n = 0; n < 5; n++) {
    await new Promise((next) => setImmediate(next));
    seen.push(done);
  }
  expect(seen.every((count) => count <= 10)).toBe(true);
});
