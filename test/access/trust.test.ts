/**
 * Trust: before the first turn in a folder, and again when it changes, the owner is asked about what acts by itself there. On the
 * real server, with turns of the loop.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProblem, type Problem, type WholeBlock } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { actingFiles } from "../../packages/server/src/trust/acting-files.ts";
import { Rig } from "../loop/rig.ts";
import { say } from "../model/script.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.clear();
  rig.speak("anthropic");
  rmSync(join(rig.home, "trust.json"), { force: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(rig.faults).toEqual([]);
});

function put(path: string, text = "x\n"): void {
  const file = join(rig.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Question {
  readonly ask: string;
  readonly folder: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly reason: string; readonly state: string }[];
}

/** The question of a turn that could not start; undefined where it could. */
async function begin(more: object = {}): Promise<Question | undefined> {
  rig.model.play([say("Done.")]);
  const answer = await rig.ask("turn.start", { provider: "anthropic", prompt: "Go", ...more });
  if (isProblem(answer)) return (answer as Problem).details as unknown as Question;
  const { conversation, turn } = answer as { conversation: string; turn: string };
  await rig.ended(conversation, turn);
  return undefined;
}

const paths = (question: Question | undefined) =>
  question?.files.map(({ path, state }) => `${path} ${state}`);
const allow = ({ folder, digest }: Question) => rig.ask("trust.allow", { folder, digest });

describe("[AC210] before a turn", () => {
  it("a folder in which nothing acts by itself asks nothing", async () => {
    put("src/a.ts");
    put("package.json", "{}");
    put(".git/hooks/pre-commit.sample");
    put(".git/config", '[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n');
    expect(await begin()).toBeUndefined();
  });

  it("what acts is asked for once, and again when it is new or has changed, not when it is gone", async () => {
    put("CLAUDE.md");
    put(".mcp.json", "{}");
    const first = await begin();
    expect(first?.ask).toBe("trust");
    expect(paths(first)).toEqual(["CLAUDE.md new", ".mcp.json new"]);
    expect(paths(await begin())).toHaveLength(2);
    expect(await allow(first as Question)).toMatchObject({
      files: [{ state: "trusted" }, { state: "trusted" }],
    });
    expect(await begin()).toBeUndefined();
    put("CLAUDE.md", "changed\n");
    put(".claude/hooks/run.sh");
    const second = await begin();
    expect(paths(second)).toEqual(["CLAUDE.md changed", ".claude/hooks/run.sh new"]);
    await allow(second as Question);
    rmSync(join(rig.root, ".mcp.json"));
    expect(await begin()).toBeUndefined();
    await rig.tool("trust.revoke", { folder: rig.root });
    expect(paths(await begin())).toHaveLength(2);
  });

  it("yes is said to what was shown: a file that changes meanwhile is not trusted", async () => {
    put("AGENTS.md");
    const shown = (await begin()) as Question;
    put("AGENTS.md", "changed\n");
    expect(await allow(shown)).toMatchObject({ problem: "conflict" });
    expect(paths(await begin())).toEqual(["AGENTS.md new"]);
  });

  it("a message that waits is not sent where its folder has changed since", async () => {
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    rig.model.play([say("First.", { hold: { after: 1, until: held } }), say("Second.")]);
    const { conversation, turn } = await rig.start("anthropic", "One");
    const waits = await rig.tool<{ block_id: string; queued: boolean }>("turn.start", {
      ...{ provider: "anthropic", prompt: "Two", conversation },
    });
    expect(waits.queued).toBe(true);
    put("CLAUDE.md");
    go();
    await rig.ended(conversation, turn);
    const shown = await rig.block(conversation, ({ kind }: WholeBlock) => kind === "error");
    expect(shown.text).toMatch(/^Not sent: .*CLAUDE\.md/);
    expect((await rig.blocks(conversation)).some(({ text }) => text === "Second.")).toBe(false);
  });

  it.each(["agent", "viewer"] as const)("only the owner is asked and answers: not a %s", async (role) => {
    put("CLAUDE.md");
    const { folder, digest } = (await begin()) as Question;
    for (const [name, input] of [
      ["trust.show", {}],
      ["trust.allow", { folder, digest }],
      ["trust.revoke", { folder }],
    ] as const)
      expect(await rig.ask(name, input, { agent: "bob", role, by: "token" })).toMatchObject({
        problem: "forbidden",
      });
  });
});

describe("[AC211] what acts by itself", () => {
  it.each([
    ["CLAUDE.md"],
    ["CLAUDE.local.md"],
    ["AGENTS.md"],
    ["AGENTS.override.md"],
    ["GEMINI.md"],
    [".mcp.json"],
    [".claude/settings.json"],
    [".claude/settings.local.json"],
    [".claude/hooks/deep/down/x.sh"],
    [".claude/agents/a.md"],
    [".claude/commands/b.md"],
    [".claude/skills/c/SKILL.md"],
    [".codex/config.toml"],
    [".git/hooks/pre-commit"],
    [".husky/pre-push"],
  ])("%s, with its digest, in the folder and above it", (path) => {
    put(path);
    mkdirSync(join(rig.root, "packages/a"), { recursive: true });
    const [found] = actingFiles(rig.root, join(rig.root, "packages/a"));
    expect(found).toMatchObject({ path, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    put(path, "y\n");
    expect(actingFiles(rig.root, rig.root)[0]?.digest).not.toBe(found?.digest);
  });

  it("git's configuration, as far as it runs programs", () => {
    put(".git/config", "[core]\n\tbare = false\n");
    expect(actingFiles(rig.root, rig.root)).toEqual([]);
    put(".git/config", "[core]\n\tbare = false\n\tfsmonitor = ./steal.sh\n");
    const [found] = actingFiles(rig.root, rig.root);
    expect(found?.reason).toContain("fsmonitor = ./steal.sh");
    put(".git/config", '[core]\n\tfsmonitor = ./steal.sh\n[branch "a"]\n\tremote = origin\n');
    expect(actingFiles(rig.root, rig.root)[0]?.digest).toBe(found?.digest); // nothing else in it counts
    put(".git/config", "[alias]\n\tst = !./steal.sh\n");
    expect(actingFiles(rig.root, rig.root)).toHaveLength(1);
  });
});
