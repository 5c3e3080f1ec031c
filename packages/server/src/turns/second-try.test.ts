/** A run whose session is lost: it is retried once, unless somebody has stopped it. */
import { type Problem, problem, type Reason } from "@blockyard/kernel";
import { expect, it } from "vitest";
import type { Run, RunEnd } from "./run.ts";
import { SecondTry, type Trial } from "./second-try.ts";

const over = (error: string): RunEnd => ({ error, isExpected: true });

/** A run that ends on request, or when stopped. */
class Played implements Trial {
  isLost = false;
  readonly stopped: Reason[] = [];
  end: (end: RunEnd) => void = () => undefined;
  readonly ended = new Promise<RunEnd>((resolve) => {
    this.end = resolve;
  });

  stop(reason: Reason): void {
    this.stopped.push(reason);
    this.end(over("stopped"));
  }

  kill(reason: Reason): void {
    this.stop(reason);
  }

  asks(): string | undefined {
    return this.isLost ? "first" : "second";
  }

  answer(): void {}
}

function lost(): Played {
  const run = new Played();
  run.isLost = true;
  run.end(over("lost"));
  return run;
}

it("[D11] one that has its session, or fails otherwise, is not retried", async () => {
  const first = new Played();
  const run = new SecondTry(first, () => Promise.reject(new Error("never")));
  first.end(over("failed"));
  expect(await run.ended).toEqual(over("failed"));
});

it("[D11] one that has lost it is, and asks and messages go to the second", async () => {
  const second = new Played();
  const run = new SecondTry(lost(), async () => second);
  expect(run.asks("a")).toBe("first");
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(run.asks("a")).toBe("second");
  run.stop("cancelled");
  expect(second.stopped).toEqual(["cancelled"]);
  expect(await run.ended).toEqual(over("stopped"));
});

it("[D11] one that is stopped between the two does not continue", async () => {
  const second = new Played();
  let open: (run: Run) => void = () => undefined;
  const run = new SecondTry(
    lost(),
    () =>
      new Promise((resolve) => {
        open = resolve;
      }),
  );
  await new Promise(setImmediate);
  run.stop("cancelled");
  open(second);
  expect(await run.ended).toEqual(over("stopped"));
  expect(second.stopped).toEqual(["cancelled"]);
});

const refusals: readonly (readonly [string, () => Promise<Run | Problem>])[] = [
  ["refused", async () => problem("unavailable", "not today")],
  ["thrown", () => Promise.reject(new Error("not today"))],
];
it.each(refusals)("[D1] [D11] a second try that is %s ends it", async (_, again) => {
  expect(await new SecondTry(lost(), again).ended).toMatchObject({
    error: expect.stringContaining("not today"),
    isExpected: false,
  });
});
