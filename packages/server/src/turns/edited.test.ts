/** Whether others have changed what an agent wrote, also once its history is compacted. */
import { isProblem, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { must } from "../testing/session-harness.ts";
import { isEditedSince } from "./edited.ts";
import { editorsOf } from "./voices.ts";

it.each([
  ["nobody else", ["claude"], false, []],
  ["a person", ["claude", "ann"], true, ["ann"]],
  ["a person, twice", ["ann", "claude", "ann"], true, ["ann"]],
])("[D12] a text whose history is gone was changed by %s", async (_who, editors, isEdited, others) => {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = must(await kernel.createConversation("ann", ""));
  const id = must(
    await kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => {
        const made = draft.create({ kind: "text", role: "model", status: "done", text: '{"a":1}' });
        return isProblem(made) ? made : made.id;
      },
    }),
  );
  for (const [n, agent] of editors.entries()) {
    const splices = [{ at: 1, del: "", ins: `"b${n}":2,` }];
    must(await kernel.writeBlock(id, { agent, plan: (draft) => draft.splice(id, splices) }));
    // Each is compacted by itself, on top of the ones before.
    expect(await kernel.compact(id)).toBeUndefined();
  }
  const block = must(await kernel.block(id));
  expect(block.promoted).toBe(true);
  expect((await kernel.log(id, { seq: 0 })) as object).toHaveProperty("compacted");
  expect(await isEditedSince(kernel, block, 0)).toBe(isEdited);
  expect(await editorsOf(kernel, block)).toEqual(others);
});
