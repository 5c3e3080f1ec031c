/** The tools of the built-in loop, on files that others have open. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { inlineMatcher } from "@blockyard/kernel";
import { afterEach, expect, it } from "vitest";
import { ProcessTracker } from "../processes/process-tracker.ts";
import { Lab } from "../testing/lab.ts";
import { workspaceTools } from "../turns/loop/tools/index.ts";
import { Workspace } from "../turns/loop/tools/workspace.ts";
import { loopFiles } from "./loop-files.ts";

let lab: Lab;
let tracker: ProcessTracker | undefined;
afterEach(async () => {
  await tracker?.close();
  tracker = undefined;
  await lab.stop();
});

async function use(name: string, input: object) {
  const tool = workspaceTools.find((each) => each.name === name);
  const parsed = tool?.parse(input);
  if (!tool || !parsed || "wrong" in parsed) throw new Error(`${name}: ${JSON.stringify(parsed)}`);
  tracker ??= new ProcessTracker(join(lab.folder, "marks"));
  const { error, result } = await tool.run(parsed.input, {
    workspace: new Workspace({
      root: lab.root,
      closed: [],
      files: loopFiles(lab.files, lab.kernel, "openai"),
    }),
    signal: new AbortController().signal,
    env: { PATH: process.env["PATH"] },
    matcher: inlineMatcher(() => performance.now()),
    tracker,
    permitted: [],
    isSeen: false,
    open: () => undefined,
    grow: () => undefined,
  });
  return error ?? result?.text;
}

it("[F28] the loop reads people's edits, saved or not, and so does a command", async () => {
  lab = await Lab.start({ bounds: { flushMs: 600_000, flushMostMs: 600_000 } });
  lab.put("a.txt", "one\ntwo\n");
  const id = await lab.open("a.txt");
  await lab.edit(id, "one", "ONE");
  expect(await use("read", { path: "a.txt" })).toBe("ONE\ntwo\n");
  expect(await use("grep", { pattern: "ONE" })).toContain("a.txt");
  expect(await use("bash", { command: "cat a.txt" })).toBe("ONE\ntwo\n");
});

it("[F28] the loop's edits are edits of the block, on disk at once, with an undo of their own", async () => {
  lab = await Lab.start();
  lab.put("a.txt", "\ufeffone\ntwo\n");
  chmodSync(join(lab.root, "a.txt"), 0o750);
  expect(await use("edit", { path: "a.txt", old_text: "two", new_text: "2" })).toContain("+2");
  expect(lab.disk("a.txt")).toBe("\ufeffone\n2\n");
  const id = await lab.open("a.txt");
  await lab.edit(id, "one", "1");
  await lab.kernel.writeBlock(id, { agent: "openai", plan: (draft) => draft.undo(id, "undo") });
  await lab.saved(id);
  expect(lab.disk("a.txt")).toBe("\ufeff1\ntwo\n");
  expect(await use("write", { path: "new/b.txt", content: "b\n" })).toContain("+b");
  expect(lab.disk("new/b.txt")).toBe("b\n");
  expect(await lab.text(await lab.open("new/b.txt"))).toBe("b\n");
});

it("[F28] a text that has changed since it was read is not overwritten", async () => {
  lab = await Lab.start();
  lab.put("a.txt", "one\ntwo\n");
  const opened = loopFiles(lab.files, lab.kernel, "openai");
  const id = await lab.open("a.txt");
  await lab.edit(id, "two", "2");
  expect(await opened.write("a.txt", "mine\n", "one\ntwo\n", false)).toMatchObject({ problem: "conflict" });
  expect(await opened.write("a.txt", "mine\n", undefined, false)).toMatchObject({ problem: "conflict" });
  expect(await lab.text(id)).toBe("one\n2\n");
});
