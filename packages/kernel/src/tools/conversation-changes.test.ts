/** conversation.changes: what changed in files, turn by turn, from the records of their blocks. */

import { describe, expect, it } from "vitest";
import { bob, TestHarness } from "../testing/harness.ts";

const diff = (body: string) => `--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n${body}`;

async function change(harness: TestHarness, conversation: string, changes: object[], more: object = {}) {
  const metadata = { toolUseId: "1", toolName: "Edit", changes, ...(more as { metadata?: object }).metadata };
  const given = { kind: "file_change", role: "tool", status: "done", ...more, metadata };
  return harness.block(conversation, "x", bob, given);
}

async function story() {
  const harness = new TestHarness();
  const c = await harness.conversation();
  const begin = async () => (await harness.ok("turn.begin", { conversation: c }, bob))["turn"] as string;
  const first = await begin();
  const made = await change(harness, c, [{ path: "a.ts", kind: "add", diff: diff("+one\n+two") }]);
  const edited = await change(harness, c, [
    { path: "a.ts", kind: "modify", diff: diff("-two\n+2\n+3") },
    { path: "b.ts", kind: "modify", diff: diff("-x") },
  ]);
  await change(harness, c, [{ path: "no.ts", kind: "modify", diff: diff("+x") }], {
    metadata: { isError: true },
  });
  const second = await begin();
  const gone = await change(harness, c, [{ path: "b.ts", kind: "delete" }]);
  return { harness, c, first, second, made, edited, gone };
}

describe("[T93] changes", () => {
  it("in all, and by turn, the newest first", async () => {
    const { harness, c, first, second, made, edited, gone } = await story();
    const a = { path: "a.ts", kind: "add", added: 4, removed: 1, exact: true, block_ids: [made, edited] };
    const b = { path: "b.ts", kind: "modify", added: 0, removed: 1, exact: true, block_ids: [edited] };
    const deleted = { path: "b.ts", kind: "delete", added: 0, removed: 0, exact: true, block_ids: [gone] };
    expect(await harness.ok("conversation.changes", { conversation: c })).toEqual({
      files: [a, { ...b, kind: "delete", block_ids: [edited, gone] }],
      turns: [
        { turn: second, files: [deleted] },
        { turn: first, files: [a, b] },
      ],
      more: false,
    });
    const one = await harness.ok("conversation.changes", { conversation: c, turn: second });
    expect(one).toMatchObject({ files: [deleted], turns: [{ turn: second }] });
  });

  it("a part at a time, without loss", async () => {
    const { harness, c } = await story();
    const seen: string[] = [];
    for (let before: number | undefined; ; ) {
      const page = await harness.ok("conversation.changes", {
        conversation: c,
        limit: 1,
        ...(before ? { before } : {}),
      });
      for (const { block_ids } of page["files"] as { block_ids: string[] }[]) seen.push(...block_ids);
      before = page["next"] as number | undefined;
      if (page["more"] !== true) break;
    }
    const whole = await harness.ok("conversation.changes", { conversation: c });
    const all = (whole["files"] as { block_ids: string[] }[]).flatMap(({ block_ids }) => block_ids);
    expect(new Set(seen)).toEqual(new Set(all));
  });

  it("a diff that is only in the text is counted; a sentence is not", async () => {
    const harness = new TestHarness();
    const c = await harness.conversation();
    const metadata = { toolUseId: "1", toolName: "Edit", changes: [{ path: "a", kind: "modify" }] };
    const more = { kind: "file_change", role: "tool", status: "done", metadata };
    await harness.block(c, diff("+a\n-b\n+c"), bob, more);
    await harness.block(c, "The file was updated.", bob, {
      ...more,
      metadata: { ...metadata, changes: [{ path: "b", kind: "modify" }] },
    });
    expect(await harness.ok("conversation.changes", { conversation: c })).toMatchObject({
      files: [
        { path: "a", added: 2, removed: 1, exact: true },
        { path: "b", added: 0, removed: 0, exact: false },
      ],
    });
  });
});
