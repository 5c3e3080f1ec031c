/** An agent's ask, in a few words. */
import type { Ask } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { askHeading } from "./ask-heading.ts";

it.each<[Partial<Ask>, string]>([
  [{ plan: "c/1" }, "Approve this plan?"],
  [{ input: { plan: "1. Sum first" } }, "Approve this plan?"],
  [{ input: {} }, "Leave plan mode without a plan?"],
  [{ input: { plan: " \n" } }, "Leave plan mode without a plan?"],
  [{}, "Leave plan mode without a plan?"],
])("[CM12] a plan %j is asked about as %j", (ask, words) => {
  expect(askHeading({ id: "a", kind: "plan", state: "asked", ...ask }, { metadata: {} }, undefined)).toBe(
    words,
  );
});
