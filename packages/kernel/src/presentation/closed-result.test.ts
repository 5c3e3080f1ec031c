// What a closed result shows instead of its text: the rules as a table.

import { describe, expect, it } from "vitest";
import type { ClosedResult } from "../model/change.ts";
import type { Kind, Status } from "../model/kind.ts";
import { closedResult } from "./closed-result.ts";
import type { Facts } from "./loudness.ts";

const call = (toolName: string, more: Facts["metadata"] = {}): Facts => ({
  kind: "tool_call",
  role: "model",
  status: "done",
  metadata: { toolName, stage: "end", ...more },
});
const result = (
  kind: Kind,
  text: string,
  metadata: Facts["metadata"] = {},
  status: Status = "done",
): Facts & { chars: number } => ({ kind, role: "tool", status, metadata, chars: text.length });
const linesOf = (text: string) => text.split("\n");
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i} of the output`);

const LONG = numbered(200).join("\n");
const allowed: Facts["metadata"] = {
  ask: { kind: "permission", state: "allowed", answeredBy: "owner" } as never,
};

describe("what a closed result shows instead of its text", () => {
  const cases: [string, Facts | undefined, Facts & { chars: number }, string, ClosedResult | undefined][] = [
    [
      "of a command that succeeded the line it is remembered by",
      ...row(call("Bash"), "command", { exitCode: 0 }),
      { summary: "line 199 of the output" },
    ],
    [
      "of a command whose output was cut how much there was, and no line as its last",
      ...row(call("Bash"), "command", { exitCode: 0, truncatedChars: 508_894 }),
      { summary: `${(508_894 + LONG.length).toLocaleString("en-US")} characters` },
    ],
    ["of a file that was read nothing", ...row(call("Read"), "code", {}), {}],
    [
      "of a command that failed its last lines",
      ...row(call("Bash"), "command", { exitCode: 1 }),
      { lines: 200, head: [], tail: numbered(200).slice(-12) },
    ],
    [
      "of what stands without a call its ends",
      ...row(undefined, "tool_result", {}),
      { lines: 200, head: numbered(4), tail: numbered(200).slice(-3) },
    ],
    ["of what was asked for all of it", ...row(call("Bash", allowed), "command", { exitCode: 0 }), undefined],
    ["of a change all of it", ...row(call("Edit"), "file_change", { changes: [] }), undefined],
  ];
  it.each(cases)("[W34] %s", (_name, above, block, text, expected) => {
    expect(closedResult(block, above, linesOf(text))).toEqual(expected);
  });

  it("[W34] leaves out nothing of a running command", () => {
    const running = result("command", LONG, {}, "running");
    expect(closedResult(running, call("Bash"), linesOf(LONG))).toBeUndefined();
  });

  it("[W34] sends short text whole", () => {
    const text = "all is well\n";
    expect(
      closedResult(result("command", text, { exitCode: 0 }), call("Bash"), linesOf(text)),
    ).toBeUndefined();
  });

  it("[W34] sends of a very long line as much as could be shown", () => {
    const text = `${"x".repeat(100_000)}\nend`;
    const closed = closedResult(result("command", text, { exitCode: 2 }), call("Bash"), linesOf(text));
    expect(closed?.head?.map(({ length }) => length)).toEqual([2_000, 3]);
  });

  function row(
    above: Facts | undefined,
    kind: Kind,
    metadata: Facts["metadata"],
  ): [Facts | undefined, Facts & { chars: number }, string] {
    return [above, result(kind, LONG, metadata), LONG];
  }
});
