/**
 * Commands of our own loop that the owner has not seen, because the turn or a rule allows them, and the guarded files of the workspace: on
 * a real server, in the real sandbox.
 */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { mayConfine } from "../../packages/server/src/testing/bubblewrap.ts";
import { type Body, call, say } from "../model/script.ts";
import { Rig } from "./rig.ts";

const SECRET = "planted-secret-4711";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start("on");
});
afterAll(() => rig.stop());
beforeEach(() => rig.clear());
afterEach(() => vi.unstubAllEnvs());

/** What the model is told of its command; `says`: the owner is asked, and says yes. */
async function told(command: string, allow: readonly string[], says = false): Promise<string> {
  rig.model.asked.length = 0;
  rig.model.play([{ parts: [call("bash", { command })] }, say("Done.")]);
  const { conversation, turn } = await rig.start("anthropic", "Go", { allow });
  if (says) {
    const asking = await rig.until(conversation, async () =>
      (await rig.blocks(conversation)).find(({ metadata }) => "ask" in metadata),
    );
    const { id } = asking.metadata["ask"] as JsonObject;
    await rig.tool("turn.answer", { block_id: asking.id, ask_id: id, allow: true });
  }
  await rig.ended(conversation, turn);
  const body: Body | undefined = rig.model.asked.at(-1)?.body;
  return JSON.stringify(body?.["messages"]);
}

const GUARDED = [
  "app/.env",
  "certs/server.key",
  "docs/CLAUDE.md",
  ".claude/settings.json",
  "CLAUDE.md",
  ".vscode/tasks.json",
  ".github/hooks/check.json",
];

/** Guarded files, which the owner trusts as they are. */
async function plant(): Promise<void> {
  for (const name of GUARDED) {
    mkdirSync(join(rig.root, name, ".."), { recursive: true });
    writeFileSync(join(rig.root, name), `TOKEN=${SECRET}\n`);
  }
  mkdirSync(join(rig.root, "store"), { recursive: true });
  writeFileSync(join(rig.root, "store/real"), `TOKEN=${SECRET}\n`);
  rmSync(join(rig.root, "zone"), { force: true, recursive: true });
  mkdirSync(join(rig.root, "zone"));
  symlinkSync("../store/real", join(rig.root, "zone/.env"));
  const { folder, digest } = await rig.tool<{ folder: string; digest: string }>("trust.show", {});
  await rig.tool("trust.allow", { folder, digest });
}

describe.runIf(mayConfine)("[AC314] a command that the owner has not seen", () => {
  it.each([
    ["reads a secret", "cat app/.env"],
    ["reads it by another name", "ln -s app/.env x; cat x; cat ./app/../app/.env /proc/self/cwd/app/.env"],
    ["reads it in a folder that it has moved", "mv app moved; cat moved/.env; mv moved app"],
    ["copies it", "cp app/.env copy; cat copy; tar cf - app | strings"],
    ["reads a key", "cat certs/server.key"],
    ["changes the settings of an agent", "echo changed > .claude/settings.json; rm -rf .claude"],
    ["changes instructions", "echo changed > CLAUDE.md; sed -i s/TOKEN/changed/ CLAUDE.md; rm -f CLAUDE.md"],
    ["changes hooks of an agent beside what code hosts read", "echo changed > .github/hooks/check.json"],
    ["changes what an editor runs", "mv .vscode old; mkdir .vscode; echo changed > .vscode/tasks.json"],
  ])("never %s", async (_, command) => {
    await plant();
    const said = await told(`${command}; echo end`, ["bash"]);
    expect([said.includes("end\\n"), said.includes(SECRET)]).toEqual([true, false]);
    for (const name of GUARDED)
      expect([name, readFileSync(join(rig.root, name), "utf8")]).toEqual([name, `TOKEN=${SECRET}\n`]);
  });

  it.each([
    ["many files beside it", "mkdir a; cd a; for i in {1..20100}; do : > $i; done", "cat app/.env"],
    [
      "its folder under a name that is passed over",
      "rm -rf target; mv app target",
      "cat target/.env; mv target app",
    ],
    [
      "the folder to which it leads under such a name",
      "rm -rf target; mv store target",
      "cat target/real; mv target store",
    ],
    [
      "instructions in such a folder",
      "rm -rf target; mv docs target",
      "echo changed > target/CLAUDE.md; mv target docs",
    ],
    [
      "a folder of secrets in such a one",
      "rm -rf target; mv certs target",
      "cat target/server.key; mv target certs",
    ],
  ])("nor with what an earlier one has left: %s", async (_, first, then) => {
    await plant();
    await told(`${first}; true`, ["bash"]);
    const said = await told(`${then}; echo end`, ["bash"]);
    expect([said.includes("end\\n"), said.includes(SECRET)]).toEqual([true, false]);
    for (const name of GUARDED)
      expect([name, readFileSync(join(rig.root, name), "utf8")]).toEqual([name, `TOKEN=${SECRET}\n`]);
  });

  it("says what it did not find, and finds it where the owner has said yes, or has granted it", async () => {
    await plant();
    const command = "cat app/.env";
    const note = "Guarded, and empty for this command: app/.env";
    expect((await told(command, ["bash"])).includes(note)).toBe(true);
    expect((await told("echo hello", ["bash"])).includes("Guarded")).toBe(false);
    expect((await told(command, [], true)).includes(SECRET)).toBe(true);
    await rig.tool("file.grant", { path: "app/.env", agent: "anthropic" });
    expect((await told(command, ["bash"])).includes(SECRET)).toBe(true);
    await rig.tool("file.revoke", { path: "app/.env", agent: "anthropic" });
  });

  it("is not seen by a rule that allows it either", async () => {
    await plant();
    const pattern = { type: "command", words: ["cat"] };
    const rule = { effect: "allow", workspace: rig.root, pattern };
    const { id } = await rig.tool<{ id: string }>("rule.set", rule);
    const said = await told("cat app/.env", []);
    expect([said.includes("Guarded, and empty"), said.includes(SECRET)]).toEqual([true, false]);
    await rig.tool("rule.remove", { id });
  });
});
