/** Records of both directions: which are valid, and which are not. */
import { describe, expect, it } from "vitest";
import { readTraffic, trafficLine } from "./traffic.ts";

describe("[P1] a record of traffic", () => {
  it("comes back unchanged", () => {
    const kept = trafficLine("out", '{"id":1}', 12);
    expect(readTraffic(JSON.parse(kept))).toEqual({
      t: 12,
      dir: "out",
      line: '{"id":1}',
      message: { id: 1 },
      isCut: false,
    });
  });

  it.each([
    ["no JSON", { t: 1, dir: "in", line: "Hello" }, { message: undefined }],
    ["a cut line", { t: 1, dir: "in", line: '{"a"', unterminated: true }, { isCut: true }],
    ["no time", { dir: "in", line: "{}" }, { t: undefined }],
  ])("may have %s", (_, record, expected) => {
    expect(readTraffic(record)).toMatchObject(expected);
  });

  it.each([
    [null],
    ["in"],
    [[]],
    [{}],
    [{ dir: "in" }],
    [{ dir: "up", line: "" }],
    [{ dir: "out", line: 1 }],
  ])("is not %j", (record) => {
    expect(readTraffic(record)).toBeUndefined();
  });
});
