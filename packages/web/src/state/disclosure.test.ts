/** What "all" opens and closes, and what stays as it was. */
import { describe, expect, it } from "vitest";
import { enter, isOpen, setAll, setOpen } from "./disclosure.ts";

describe("everything at once", () => {
  it("[V155] opens what is in the conversation that is shown, and nothing else", () => {
    enter("one");
    setOpen("one/2", false);
    setOpen("sidebar:archived", false);
    setOpen("two/1", true);
    setAll(true);
    expect(["one/1", "one/2", "json:one/3:input"].map((name) => isOpen(name, false))).toEqual([
      true,
      true,
      true,
    ]);
    expect(isOpen("one/4:input", false, true)).toBe(false);
    setOpen("one/5:input", true);
    expect(isOpen("one/5:input", false, true)).toBe(true);
    expect(isOpen("sidebar:archived", false)).toBe(false);
    expect(isOpen("tree:src", false)).toBe(false);

    enter("two");
    expect(isOpen("two/1", false)).toBe(true);
    expect(isOpen("two/2", false)).toBe(false);
    setAll(false);
    expect(isOpen("two/1", true)).toBe(false);

    enter("one");
    expect(isOpen("one/2", false)).toBe(true);
    setOpen("one/2", false);
    expect(isOpen("one/2", true)).toBe(false);
  });
});
