/** What counts as a problem, and what only looks like one. */

import { expect, it } from "vitest";
import { isProblem, problem } from "./problem.ts";

it.each<[unknown, boolean]>([
  [problem("busy", "try again"), true],
  [problem("stale", "it has changed", { actual: [] }), true],
  // Of a newer server, with a code that this one does not know.
  [{ problem: "newer", message: "something" }, true],
  // An answer with a field of that name.
  [{ problem: "it is too slow" }, false],
  [{ provider: "claude", problem: "not installed", abilities: {} }, false],
  [{ problem: { code: "busy" }, message: "x" }, false],
  [{ problem: 1, message: "x" }, false],
  ["busy", false],
  [undefined, false],
  [null, false],
])("[T11] %j is a problem: %s", (value, expected) => {
  expect(isProblem(value)).toBe(expected);
});
