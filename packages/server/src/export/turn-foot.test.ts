/** The foot of a turn in an exported page: it alone says why its last answer ended. */
import { type Draft, isProblem, Kernel, MemoryStore, type Reason } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { exportFile } from "./export-file.ts";

/** An exported page with an answer that was interrupted, in a turn that ended as said, maybe after another answer. */
async function pageOf(reason: Reason, more: readonly string[]): Promise<string> {
  const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
  const id = await kernel.createConversation("ada", "Feet");
  if (isProblem(id)) throw new Error(id.message);
  const write = (plan: (draft: Draft) => unknown) =>
    kernel.write(id, { agent: "claude", plan: plan as never });
  const turn = { id: "t", provider: "claude", agent: "claude", startedAt: 1, endedAt: 2 } as const;
  await write((draft) => draft.setTurn({ ...turn, status: "error", reason }));
  const answer = { kind: "text", role: "model" } as const;
  const cut = { status: "error", metadata: { turn: "t", reason: "interrupted" } } as const;
  await write((draft) => draft.create({ ...answer, text: "Half an ans", ...cut }));
  for (const text of more)
    await write((draft) => draft.create({ ...answer, text, status: "done", metadata: { turn: "t" } }));
  const file = await exportFile(kernel, id, "html", false);
  if (isProblem(file)) throw new Error(file.message);
  let page = "";
  for await (const piece of file.body) page += piece;
  return page;
}

const SAID = '<div class="reason warn">interrupted</div>';

it("[V188] says why the last answer ended, in its place", async () => {
  const page = await pageOf("interrupted", []);
  expect(page).not.toContain(SAID);
  expect(page).toContain("ended: interrupted");
});

it.each([
  ["failed", []],
  ["interrupted", ["Once more."]],
] as const)("[V188] does not speak for an answer if the turn %s after %j", async (reason, more) => {
  expect(await pageOf(reason, more)).toContain(SAID);
});
