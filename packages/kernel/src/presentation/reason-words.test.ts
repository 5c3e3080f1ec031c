/** Why a text ended, and whether the foot of its turn says it. */
import { expect, it } from "vitest";
import { reasonShown } from "./reason-words.ts";

it.each([
  ["interrupted", undefined, "interrupted"],
  ["interrupted", {}, "interrupted"],
  ["interrupted", { reason: "interrupted" }, undefined],
  ["cancelled", { reason: "cancelled" }, undefined],
  ["truncated", { reason: "failed" }, "truncated"],
  ["retracted", { reason: "retracted" }, "retracted"],
  [undefined, { reason: "failed" }, undefined],
] as const)("[V188] %s above a foot of %o is shown as %s", (reason, foot, shown) => {
  expect(reasonShown(reason, foot)).toBe(shown);
});
