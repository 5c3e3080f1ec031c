/** What people read of a permission request that was answered. */
import { describe, expect, it } from "vitest";
import { approvalWords, repeatsDenial } from "./approval-words.ts";

describe("an answered request in words", () => {
  it.each([
    [{ state: "asked" }, ""],
    [{ state: "expired" }, "Nobody answered in time"],
    [{ state: "allowed", answeredBy: "ann" }, "You allowed this"],
    [{ state: "allowed", answeredBy: "bob" }, "bob allowed this"],
    [{ state: "allowed" }, "Allowed"],
    [{ state: "denied", answeredBy: "ann", message: "not there" }, "You denied this: not there"],
    [{ state: "denied", answeredBy: "bob" }, "bob denied this"],
    [{ state: "denied", message: "by a rule" }, "Denied: by a rule"],
  ] as const)("[V15] %j", (approval, words) => {
    expect(approvalWords({ id: "a", ...approval }, "ann")).toBe(words);
  });

  it.each([
    ["cancelled", "Not answered: the turn was stopped"],
    ["interrupted", "Not answered: the turn was cut off"],
    ["failed", "Nobody answered in time"],
  ])("[V15] nobody answered a call that ended as %s", (reason, words) => {
    expect(approvalWords({ id: "a", state: "expired" }, "ann", reason)).toBe(words);
  });

  it.each([
    [{ approval: { state: "expired" }, reason: "cancelled" }, { isError: true }, true],
    [{ approval: { state: "expired" }, reason: "failed" }, { isError: true }, false],
    [{ approval: { state: "allowed" }, reason: "cancelled" }, { isError: true }, false],
    [{ approval: { state: "denied" } }, { isError: true }, true],
    [{ approval: { state: "denied" } }, {}, false],
    [{ approval: { state: "allowed" } }, { isError: true }, false],
    [{}, { isError: true }, false],
  ])("[V37] what a denied call's result adds: %j %j", (call, result, isRepeated) => {
    expect(repeatsDenial(call, result)).toBe(isRepeated);
  });
});
