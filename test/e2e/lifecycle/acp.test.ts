/**
 * Turns of agents over ACP, with an agent that plays recordings of the real ones: what the driver says to it, what it answers for
 * the owner, and what happens when the agent misbehaves.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Ask,
  type AskAnswer,
  askOf,
  type Block,
  isProblem,
  type JsonObject,
  Kernel,
  MemoryStore,
  type Turn,
} from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { ProcessTracker } from "../../../packages/server/src/processes/process-tracker.ts";
import { nodeEnv } from "../../../packages/server/src/system/env.ts";
import { acpDriver } from "../../../packages/server/src/turns/drivers/acp/driver.ts";
import type { Mode } from "../../../packages/server/src/turns/mode.ts";
import { Turns } from "../../../packages/server/src/turns/turns.ts";

const FAKE = fileURLToPath(new URL("../agents/fake-acp.mjs", import.meta.url));
const RECORDED = fileURLToPath(new URL("../../../packages/providers/fixtures/acp/", import.meta.url));

/** Starts what follows, as the scripts of some agents do. */
const LAUNCHER = fileURLToPath(new URL("../agents/launcher.mjs", import.meta.url));

type Reply = { readonly allow: boolean; readonly answer?: AskAnswer };

class Stage {
  readonly folder: string;
  readonly kernel: Kernel;
  readonly turns: Turns;
  readonly #command: string[];
  conversation = "";

  /** With `before`, the server has been started stage. */
  constructor(recording: string, act = "play", after = "1000000000", before?: Stage) {
    this.folder = before?.folder ?? mkdtempSync(join(tmpdir(), "blockyard-acp-"));
    this.kernel = before?.kernel ?? new Kernel(nodeEnv, new MemoryStore("acp"));
    this.conversation = before?.conversation ?? "";
    const heard = join(this.folder, "heard");
    this.#command = [process.execPath, FAKE, `${RECORDED}${recording}.jsonl`, heard, act, after];
    if (act === "orphan") this.#command.splice(1, 0, LAUNCHER);
    const options = {
      ...{ kernel: this.kernel, root: this.folder, env: { PATH: "/usr/bin:/bin", HOME: this.folder } },
      ...{ tracker: new ProcessTracker(this.folder), graceMs: 500, cancelMs: 1_500 },
      helloMs: act === "mute" ? 1_000 : 60_000,
    };
    writeFileSync(heard, "");
    this.turns = new Turns({
      kernel: this.kernel,
      drivers: [acpDriver({ provider: "fake", command: this.#command }, options)],
    });
  }

  /** From now on the agent plays another recording. */
  plays(recording: string): void {
    this.#command[2] = `${RECORDED}${recording}.jsonl`;
    this.#command[4] = "play";
  }

  async start(prompt = "Go", more: { model?: string; mode?: Mode } = {}): Promise<void> {
    if (this.conversation === "")
      this.conversation = must(await this.kernel.createConversation("ann", "acp"));
    const { conversation } = this;
    must(await this.turns.start("ann", { conversation, provider: "fake", prompt, ...more }));
  }

  /** To its end; asks are answered one after the other. */
  async turn(prompt?: string, replies: readonly Reply[] = [], more = {}): Promise<Turn> {
    await this.start(prompt, more);
    return this.over(replies);
  }

  async over(replies: readonly Reply[] = []): Promise<Turn> {
    const left = [...replies];
    await this.until(async () => {
      const asked = (await this.blocks()).find(({ metadata }) => askOf(metadata)?.state === "asked");
      if (asked !== undefined) {
        const { id } = askOf(asked.metadata) as Ask;
        must(await this.turns.answer("ann", asked.id, id, left.shift() ?? { allow: true }));
      }
      return this.turns.running === 0;
    });
    return (must(await this.kernel.turns(this.conversation)) as Turn[]).at(-1) as Turn;
  }

  async until(fits: () => Promise<boolean>): Promise<void> {
    while (!(await fits())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async blocks(): Promise<readonly Block[]> {
    return must(await this.kernel.allBlocks(this.conversation));
  }

  async texts(kind: string): Promise<string[]> {
    const own = (await this.blocks()).filter((block) => block.kind === kind);
    return Promise.all(own.map(async ({ id }) => must(await this.kernel.whole(id)).text));
  }

  /** What the agent was told. */
  get heard(): JsonObject[] {
    const lines = readFileSync(join(this.folder, "heard"), "utf8").trimEnd().split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as JsonObject);
  }

  told(method: string): JsonObject[] {
    return this.heard.filter((message) => message["method"] === method);
  }

  /** Its answers to what the agent asked. */
  get answers(): unknown[] {
    return this.heard.flatMap(({ method, result, error }) => (method === undefined ? [result ?? error] : []));
  }

  async close(): Promise<void> {
    await this.turns.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

let stage: Stage;
afterEach(() => stage?.close());

describe("what the driver says", () => {
  it("[Y25] version 1, neither files nor terminals; a session in the folder; the prompt", async () => {
    stage = new Stage("opencode/tour");
    expect(await stage.turn("Give me the tour.")).toMatchObject({ status: "done", provider: "fake" });
    expect(stage.told("initialize")[0]).toMatchObject({
      params: {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      },
    });
    expect(stage.told("session/new")[0]).toMatchObject({ params: { cwd: stage.folder, mcpServers: [] } });
    expect(stage.told("session/prompt")[0]).toMatchObject({
      params: { prompt: [{ type: "text", text: "Give me the tour." }] },
    });
    expect(await stage.texts("text")).toEqual([
      "Give me the tour.",
      "Let me look at the file. ",
      "Now the tests.",
      "That is the **tour**.",
    ]);
  });

  it("[Y26] requests that nobody knows are refused, and the agent goes on", async () => {
    stage = new Stage("qwen/subagent");
    expect(await stage.turn()).toMatchObject({ status: "done" });
    expect(stage.answers).toContainEqual(expect.objectContaining({ code: -32601 }));
  });

  it("[Y27] an agent that lets a model decide is told to ask; the mode can be another", async () => {
    stage = new Stage("qwen/permission");
    await stage.turn();
    expect(stage.told("session/set_mode")[0]).toMatchObject({ params: { modeId: "default" } });
  });

  it("[Y28] [D65] a model that the agent does not have is refused before the turn", async () => {
    stage = new Stage("opencode/text");
    await expect(stage.turn("Hi", [], { model: "no-such" })).rejects.toThrow("no model no-such");
    expect(stage.told("session/prompt")).toEqual([]);
    expect(await stage.blocks()).toEqual([]);
  });

  it("[Y29] traffic of both directions is kept as it was", async () => {
    stage = new Stage("opencode/text");
    await stage.turn();
    const { conversation } = stage;
    const [run = ""] = await stage.kernel.store.rawRuns(conversation);
    const bytes = await stage.kernel.store.raw({ conversation, run });
    const lines = Buffer.from(bytes).toString("utf8").trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line) as { dir: string; line: string });
    const sent = records.filter(({ dir }) => dir === "in").map(({ line }) => JSON.parse(line));
    expect(sent).toEqual(stage.heard);
  });
});

describe("asks", () => {
  it("[Y30] are answered by the kind of the options, or with the option that was chosen", async () => {
    stage = new Stage("opencode/tour");
    await stage.turn("Go", [
      { allow: true },
      { allow: false },
      { allow: true, answer: { suggestion: "always" } },
      { allow: true },
    ]);
    expect(stage.answers.slice(0, 3)).toEqual(
      ["once", "reject", "always"].map((optionId) => ({ outcome: { outcome: "selected", optionId } })),
    );
    const asks = (await stage.blocks()).flatMap(({ metadata }) => askOf(metadata) ?? []);
    expect(asks[0]).toMatchObject({ state: "allowed", answeredBy: "ann" });
  });

  it("[Y31] a question gets the option that was chosen, not the first that allows", async () => {
    stage = new Stage("kimi/ask");
    const blue = { questions: { "0": { chosen: ["Blue"] } } };
    await stage.turn("Ask me.", [{ allow: true, answer: blue }]);
    expect(stage.answers).toEqual([{ outcome: { outcome: "selected", optionId: "q0_opt_1" } }]);
  });

  it("[Y31] a form gets its fields", async () => {
    stage = new Stage("kimi/ask-all-caps");
    await stage.turn("Ask me.", [{ allow: true, answer: { content: { q0: "Blue" } } }]);
    expect(stage.answers).toEqual([{ action: "accept", content: { q0: "Blue" } }]);
  });

  it("[Y32] stopping answers what is open with cancelled, and cancels the prompt", async () => {
    stage = new Stage("kimi/tour-no-caps");
    await stage.start();
    await stage.until(async () =>
      (await stage.blocks()).some(({ metadata }) => askOf(metadata)?.state === "asked"),
    );
    must(await stage.turns.stop("ann", stage.conversation, false));
    // The recorded agent asks once more.
    expect(new Set(stage.answers.map((each) => JSON.stringify(each)))).toEqual(
      new Set(['{"outcome":{"outcome":"cancelled"}}']),
    );
    expect(stage.told("session/cancel")).toHaveLength(1);
    expect(await stage.over()).toMatchObject({ status: "error", reason: "cancelled" });
  });
});

describe("sessions", () => {
  it("[Y33] the second turn goes on in the same process", async () => {
    stage = new Stage("opencode/text");
    const first = await stage.turn("One");
    expect(await stage.turn("Two")).toMatchObject({ status: "done", sessionId: first.sessionId });
    expect(stage.told("initialize")).toHaveLength(1);
    expect(stage.told("session/prompt")).toHaveLength(2);
  });

  it("[D64] what it offers is asked of the process that is being started for a turn, and of one that waits", async () => {
    stage = new Stage("opencode/text");
    await stage.start("One");
    const offers = () => stage.turns.drivers.offers(stage.conversation, "fake", stage.folder);
    const early = must(await offers());
    expect(early.commands?.length).toBeGreaterThan(0);
    await stage.over();
    expect(must(await offers()).commands).toEqual(early.commands);
    expect(stage.told("initialize")).toHaveLength(1);
  });

  it("[Y34] a session is loaded again, and its history is not doubled", async () => {
    stage = new Stage("copilot/load.1");
    const first = await stage.turn("Remember 42.");
    await stage.turns.close();
    stage = new Stage("copilot/load.2", "play", undefined, stage);
    expect(await stage.turn("What was it?")).toMatchObject({ status: "done", sessionId: first.sessionId });
    expect(stage.told("session/load")).toHaveLength(1);
    const texts = await stage.texts("text");
    expect(texts.filter((text) => text.includes("Remember 42"))).toHaveLength(1);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("[Y35] a session that is gone begins anew, in the same turn, and is told what was said", async () => {
    stage = new Stage("gemini/text");
    await stage.turn("Remember 42.");
    await stage.turns.close();
    stage = new Stage("gemini/text", "play", undefined, stage);
    expect(await stage.turn("What was it?")).toMatchObject({ status: "done" });
    expect(stage.told("session/new")).toHaveLength(1);
    expect(JSON.stringify(stage.told("session/prompt"))).toContain("Remember 42.");
    expect(await stage.texts("error")).toEqual([]);
  });
});

describe("an agent that misbehaves", () => {
  it("[Y45] has ended between two turns, unheard: another process goes on with its session, in the same turn", async () => {
    stage = new Stage("copilot/load.1", "gone");
    const first = await stage.turn("Remember 42.");
    stage.plays("copilot/load.2");
    expect(await stage.turn("What was it?")).toMatchObject({ status: "done", sessionId: first.sessionId });
    expect(stage.told("session/prompt")).toHaveLength(3);
    expect(stage.told("session/load")).toHaveLength(1);
    expect(await stage.texts("error")).toEqual([]);
    const texts = await stage.texts("text");
    expect(new Set(texts).size).toBe(texts.length);
    expect(must(await stage.kernel.turns(stage.conversation))).toHaveLength(2);
  });

  it.each([
    ["dies in its turn", "kill", "9", /signal SIGKILL/],
    ["exits in its turn", "exit1", "9", /exit code 1/],
    ["stops inside a line", "half", "9", /exit code 0/],
    ["dies before it has a session", "exit1", "1", /exit code 1/],
  ])("[Y36] %s: the turn says why, and the next one works", async (_, act, after, why) => {
    stage = new Stage("opencode/text", act, after);
    const turn = await stage.turn();
    expect(turn.status).toBe("error");
    expect(turn.error).toMatch(why);
    stage.plays("opencode/text");
    expect(await stage.turn("Again")).toMatchObject({ status: "done" });
  });

  it("[Y36] only its launcher is killed: the turn says so, and nothing of what the agent answers then is shown", async () => {
    stage = new Stage("opencode/text", "orphan", "9");
    expect(await stage.turn()).toMatchObject({
      ...{ status: "error", reason: "interrupted" },
      error: expect.stringContaining("The agent ended by signal SIGKILL before its turn was over."),
    });
    expect((await stage.blocks()).map(({ kind }) => kind)).not.toContain("unknown");
  });

  it.each([
    ["says garbage, and asks twice with one id", "garbage"],
    ["answers twice", "twice"],
    ["floods", "flood"],
  ])("[Y36] %s: the turn goes on", async (_, act) => {
    stage = new Stage("opencode/text", act, "8");
    expect(await stage.turn()).toMatchObject({ status: "done" });
    const answered = stage.heard.filter(({ method }) => method === undefined).map(({ id }) => id);
    expect(answered).toEqual(act === "garbage" ? ["q", "q"] : []);
  });

  it("[Y46] asks without end: it is ended, its turn says why, and nothing waits for an answer", async () => {
    stage = new Stage("opencode/text", "asks", "8");
    await stage.start();
    await stage.until(async () => stage.turns.running === 0);
    const [turn] = must(await stage.kernel.turns(stage.conversation)) as Turn[];
    expect(turn).toMatchObject({
      status: "error",
      reason: "failed",
      error: expect.stringMatching(/more than 100/),
    });
    const states = (await stage.blocks()).flatMap(({ metadata }) => askOf(metadata)?.state ?? []);
    expect(states.length).toBeGreaterThanOrEqual(100);
    expect(new Set(states)).toEqual(new Set(["expired"]));
    stage.plays("opencode/text");
    expect(await stage.turn("Again")).toMatchObject({ status: "done" });
  });

  it("[Y37] never answers: the turn says so", async () => {
    stage = new Stage("opencode/text", "mute");
    expect(await stage.turn()).toMatchObject({
      status: "error",
      error: expect.stringContaining("no response within 1 seconds"),
    });
  });

  it("[Y37] hangs after it was cancelled: it is ended", async () => {
    stage = new Stage("opencode/text", "freeze", "8");
    await stage.start();
    await stage.until(async () => (await stage.texts("thinking")).length > 0);
    must(await stage.turns.stop("ann", stage.conversation, false));
    expect(await stage.over()).toMatchObject({ status: "error", reason: "cancelled" });
  });

  it.each([
    ["No key is set.", "Open the page.", "Not logged in: No key is set. To log in: Web: Open the page."],
    ["no account", undefined, "Not logged in: no account. To log in: Web."],
  ])(
    "[Y36] is not logged in (%s): the turn says how to, in whole sentences",
    async (message, description, said) => {
      stage = new Stage("opencode/text");
      const methods = [{ id: "web", name: "Web", description }];
      const traffic = [
        ["in", { id: 0, method: "initialize", params: {} }],
        ["out", { id: 0, result: { protocolVersion: 1, authMethods: methods } }],
        ["in", { id: 1, method: "session/new", params: {} }],
        ["out", { id: 1, error: { code: -32000, message } }],
      ];
      const lines = traffic.map(([dir, line]) => JSON.stringify({ t: 0, dir, line: JSON.stringify(line) }));
      writeFileSync(join(stage.folder, "refuses.jsonl"), lines.join("\n"));
      stage.plays(relative(RECORDED, join(stage.folder, "refuses")));
      expect((await stage.turn()).error).toBe(said);
    },
  );

  it("[Y38] speaks another version: the turn says so", async () => {
    stage = new Stage("claude/bad-requests.version");
    expect(await stage.turn()).toMatchObject({
      status: "error",
      error: expect.stringContaining("version 2 of ACP"),
    });
  });
});
