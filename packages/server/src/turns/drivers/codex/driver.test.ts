/**
 * The Codex driver against a peer that replays recordings of the real one (test/e2e/agents/fake-codex.mjs), and that dies, hangs,
 * prints nonsense and never answers at every point. The real Codex is in test/e2e/clis.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Ask,
  askOf,
  type Block,
  isProblem,
  type Json,
  type JsonObject,
  Kernel,
  MemoryStore,
  type Turn,
} from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ProcessTracker } from "../../../processes/process-tracker.ts";
import { nodeEnv } from "../../../system/env.ts";
import { NOTHING_ATTACHED } from "../../attachments.ts";
import type { Driver } from "../../driver.ts";
import { checkSandbox, SANDBOXES, withoutFull } from "../../mode.ts";
import type { Run, TurnRequest } from "../../run.ts";
import { Turns } from "../../turns.ts";
import type { Given } from "../../write-answer.ts";
import { codexDriver } from "./driver.ts";

const ROOT = fileURLToPath(new URL("../../../../../../", import.meta.url));
const FAKE = fileURLToPath(new URL("../../../../../../test/e2e/agents/fake-codex.mjs", import.meta.url));
const RECORDINGS = join(ROOT, "packages/providers/fixtures/codex-app-server");
const WAIT = { timeout: 15_000, interval: 10 };

let folder: string;
const worlds: World[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-codex-"));
});
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Plan extends JsonObject {
  readonly recording: string;
}

interface Care {
  readonly silentMs?: number;
  readonly lingerMs?: number;
  readonly graceMs?: number;
}

/** One conversation with a Codex that plays what `plan` says. */
class World {
  readonly kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  readonly log = join(folder, `log-${Math.random().toString(36).slice(2)}`);
  readonly turns: Turns;
  conversation = "";
  run: Run | undefined;
  readonly #env: Record<string, string>;

  readonly #tracker: ProcessTracker;

  constructor(plan: Plan, care: Care = {}) {
    worlds.push(this);
    this.#tracker = new ProcessTracker(mkdtempSync(join(folder, "home-")));
    const tracker = this.#tracker;
    this.#env = { PATH: process.env["PATH"] ?? "", BLOCKYARD_CODEX: FAKE, CODEX_FAKE: "" };
    this.play(plan);
    const options = { kernel: this.kernel, root: folder, env: this.#env, tracker, graceMs: 300, ...care };
    const driver = codexDriver(options);
    const watched: Driver = {
      ...driver,
      start: async (start) => {
        const run = await driver.start(start);
        this.run = isProblem(run) ? undefined : run;
        return run;
      },
    };
    this.turns = new Turns({ fullAccess: true, kernel: this.kernel, drivers: [watched] });
  }

  async close(): Promise<void> {
    await this.turns.close();
    await this.#tracker.close();
  }

  play(plan: Plan): void {
    const recording = join(RECORDINGS, `${plan.recording}.jsonl`);
    this.#env["CODEX_FAKE"] = JSON.stringify({
      ...plan,
      recording: existsSync(plan.recording) ? plan.recording : recording,
      log: this.log,
    });
  }

  async start(request: Partial<TurnRequest> = {}): Promise<void> {
    if (this.conversation === "") this.conversation = must(await this.kernel.createConversation("ann", "x"));
    const started = await this.turns.start("ann", {
      conversation: this.conversation,
      provider: "codex",
      prompt: "Do it",
      ...request,
    });
    if (isProblem(started)) throw new Error(started.message);
  }

  /** A turn to its end. */
  async turn(request: Partial<TurnRequest> = {}): Promise<Turn> {
    await this.start(request);
    return this.over();
  }

  async over(): Promise<Turn> {
    await vi.waitFor(() => expect(this.turns.running).toBe(0), WAIT);
    const open = (await this.blocks()).filter(({ status }) => status === "running" || status === "pending");
    expect(open).toEqual([]);
    expect(await this.#tracker.living()).toEqual([]);
    return must(await this.kernel.turns(this.conversation)).at(-1) as Turn;
  }

  async blocks(): Promise<readonly Block[]> {
    return must(await this.kernel.allBlocks(this.conversation));
  }

  async rows(): Promise<readonly string[]> {
    const blocks = await this.blocks();
    return Promise.all(
      blocks.map(
        async ({ id, kind, status }) =>
          `${kind} ${status} ${must(await this.kernel.whole(id)).text.trimEnd()}`,
      ),
    );
  }

  async ask(): Promise<{ readonly block: Block; readonly ask: Ask }> {
    return vi.waitFor(async () => {
      for (const block of await this.blocks()) {
        const ask = askOf(block.metadata);
        if (ask?.state === "asked") return { block, ask };
      }
      throw new Error("nothing is asked");
    }, WAIT);
  }

  async answer(given: Given): Promise<void> {
    const { block, ask } = await this.ask();
    expect(isProblem(await this.turns.answer("ann", block.id, ask.id, given))).toBe(false);
  }

  /** What the peer has read. */
  read(): readonly JsonObject[] {
    return readFileSync(this.log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
  }

  sent(method: string): readonly JsonObject[] {
    return this.read()
      .filter((message) => message["method"] === method)
      .map(({ params }) => params as JsonObject);
  }
}

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

/** A recording, changed. */
function altered(name: string, change: (lines: string[]) => readonly string[]): string {
  const path = join(folder, `${name}-${Math.random().toString(36).slice(2)}.jsonl`);
  const lines = readFileSync(join(RECORDINGS, `${name}.jsonl`), "utf8")
    .trim()
    .split("\n");
  writeFileSync(path, "");
  for (const line of change(lines)) appendFileSync(path, `${line}\n`);
  return path;
}

describe("a turn", () => {
  it("[D82] is a process that ends with it, and resumes its thread in the next one", async () => {
    const world = new World({ recording: "text" });
    expect(await world.turn()).toMatchObject({
      status: "done",
      model: "gpt-5.5",
      usage: { input: 4200, output: 96 },
    });
    const [opened] = world.sent("thread/start");
    expect(opened).toEqual({ cwd: folder });
    world.play({ recording: "exec-and-app-server" });
    expect(await world.turn()).toMatchObject({ status: "done", usage: { input: 4200 } });
    expect(world.sent("thread/resume")).toMatchObject([
      { threadId: "01a1e4fe-94ce-7371-ab8f-ae816ea24c90", excludeTurns: true },
    ]);
    expect((await world.rows()).filter((row) => row.startsWith("text"))).toHaveLength(4);
  });

  it("[D83] is stored as traffic of both directions, which makes the same blocks again", async () => {
    const world = new World({ recording: "approval-command-accept" });
    await world.start();
    await world.answer({ allow: true });
    await world.over();
    const { store } = world.kernel;
    const [run = ""] = await store.rawRuns(world.conversation);
    const raw = Buffer.from(await store.raw({ conversation: world.conversation, run })).toString("utf8");
    const lines = raw
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    expect(new Set(lines.map(({ dir }) => dir))).toEqual(new Set(["in", "out"]));
    expect(lines.some(({ dir, line }) => dir === "in" && String(line).includes('"decision":"accept"'))).toBe(
      true,
    );
  });

  it.each([
    [{ noAppServer: true }, "that does not know app-server"],
    [{ version: "0.129.9" }, "that is too old to be steered"],
  ])("[D82] %j: a Codex %s runs as exec", async (more, _) => {
    const world = new World({ recording: "text", ...more });
    expect(await world.turn()).toMatchObject({ status: "done" });
    expect(await world.rows()).toEqual(["text done Do it", "text done by exec"]);
    const before = existsSync(world.log) ? world.read().length : 0;
    expect(await world.turn()).toMatchObject({ status: "done" });
    expect(existsSync(world.log) ? world.read().length : 0).toBe(before);
  });

  it("[D83] with a lost thread begins a new one in the same turn", async () => {
    const world = new World({ recording: "text" });
    await world.turn();
    world.play({ recording: "text", lost: true });
    expect(await world.turn({ prompt: "Again" })).toMatchObject({ status: "done" });
    expect(
      world
        .read()
        .map(({ method }) => method)
        .filter((method) => String(method).startsWith("thread/")),
    ).toEqual(["thread/start", "thread/resume", "thread/start"]);
    expect(JSON.stringify(world.sent("turn/start").at(-1))).toContain("Hello! How can I help?");
    expect((await world.rows()).join()).not.toContain("no rollout");
  });

  it.each([
    ["error-broken-toml", "failed to load configuration"],
    ["error-bad-config", "Model provider `missing` not found"],
  ])("[D83] %s says why it could not be opened, once", async (recording, words) => {
    const world = new World({ recording });
    const turn = await world.turn();
    expect(turn).toMatchObject({ status: "error", reason: "failed", error: expect.stringContaining(words) });
    expect((await world.rows()).filter((row) => row.includes(words))).toHaveLength(1);
  });

  it("[D89] without a login says how to log in", async () => {
    const world = new World({ recording: "text", loggedOut: true });
    expect((await world.turn()).error).toContain("codex login");
  });

  it("[D89] that does not start says why, without a list of addresses", async () => {
    const why = "Error: approval_policy is no longer supported; remove this setting";
    const trace = "\n\nStack backtrace:\n   0: <unknown>\n   1: main\n             at ./main.rs:3:5\n";
    const { error } = await new World({ recording: "text", refuses: why + trace }).turn();
    expect(error).toContain(why);
    expect(error).not.toMatch(/backtrace|unknown|main/);
  });

  it("[D89] with a thread that another program has open says so", async () => {
    const locked = altered("text", (lines) =>
      lines.map((line) =>
        line.includes('\\"id\\":1,\\"result\\"')
          ? JSON.stringify({
              t: 0,
              dir: "out",
              line: '{"id":1,"error":{"code":-32600,"message":"thread x already has an active writer"}}',
            })
          : line,
      ),
    );
    expect((await new World({ recording: locked }).turn()).error).toContain("open in another Codex");
  });
});

describe("modes", () => {
  it.each([
    ["plan", "on-request", "read-only", "plan"],
    ["ask", "on-request", "read-only", "default"],
    ["edits", "on-request", "workspace-write", "default"],
    ["full", "never", "danger-full-access", "default"],
  ] as const)("[D86] %s is %s in %s", async (mode, approvalPolicy, sandbox, collaboration) => {
    const world = new World({ recording: "text" });
    await world.turn({ mode });
    expect(world.sent("thread/start")).toMatchObject([{ approvalPolicy, sandbox }]);
    expect(world.sent("turn/start")).toMatchObject([
      { collaborationMode: { mode: collaboration, settings: { model: "gpt-5.5" } } },
    ]);
  });
});

it("[D86] the sandbox can be chosen apart from the mode; no other agent has one to choose", async () => {
  const world = new World({ recording: "text" });
  await world.turn({ mode: "ask", sandbox: "workspace-write" });
  expect(world.sent("thread/start")).toMatchObject([
    { approvalPolicy: "on-request", sandbox: "workspace-write" },
  ]);
  const none = { abilities: { modes: [], sandboxes: [] } };
  expect(checkSandbox("claude", none, "read-only")).toMatchObject({
    problem: "invalid",
    message: "claude does not let you choose a sandbox: leave it out",
  });
  const closed = withoutFull({ abilities: { modes: ["ask"], sandboxes: [...SANDBOXES] } });
  expect(checkSandbox("codex", closed, "danger-full-access")?.message).toContain("--full-access");
});

describe("questions", () => {
  const answers = (world: World) =>
    world
      .read()
      .filter(({ method, result, error }) => method === undefined && (result ?? error) !== undefined);

  it.each([
    [{ allow: true }, { decision: "accept" }],
    [{ allow: true, answer: { suggestion: "session" } }, { decision: "acceptForSession" }],
    [
      { allow: true, answer: { suggestion: "always" } },
      {
        decision: {
          acceptWithExecpolicyAmendment: { execpolicy_amendment: ["touch", "/home/dev/outside.txt"] },
        },
      },
    ],
    [{ allow: false }, { decision: "decline" }],
    [{ allow: false, answer: { suggestion: "stop" } }, { decision: "cancel" }],
  ] as const)("[D85] %j is answered %j, once", async (given, result) => {
    const world = new World({ recording: "approval-command-accept" });
    await world.start();
    await world.answer(given as Given);
    await world.over();
    expect(answers(world)).toEqual([{ id: 0, result }]);
  });

  it("[D85] the model gets a reason as a message, since a refusal has no place for it", async () => {
    const world = new World({ recording: "approval-command-decline" });
    await world.start();
    await world.answer({ allow: false, message: "not there" });
    await world.over();
    expect(JSON.stringify(world.sent("turn/steer"))).toContain(
      "The user denied this tool call. Reason: not there",
    );
  });

  it("[D84] a patch shows its diff and is answered", async () => {
    const world = new World({ recording: "approval-patch-accept" });
    await world.start();
    expect((await world.ask()).ask.subject).toMatchObject({ type: "diff", paths: ["/home/dev/outside.txt"] });
    await world.answer({ allow: true });
    await vi.waitFor(() => expect(answers(world)).toHaveLength(1), WAIT);
    await world.answer({ allow: true });
    await world.over();
    expect(answers(world).map(({ result }) => result)).toEqual([
      { decision: "accept" },
      { decision: "accept" },
    ]);
  });

  it("[D84] an unknown request is refused, and nothing else is answered", async () => {
    const strange = { id: 41, method: "item/brandNew/ask", params: { threadId: "x" } };
    const world = new World({
      recording: "text",
      also: [strange, { id: "s", method: "currentTime/read", params: {} }],
    });
    expect(await world.turn()).toMatchObject({ status: "done" });
    await vi.waitFor(() => expect(answers(world).map(({ id }) => id)).toEqual([41, "s"]), WAIT);
    expect(answers(world).every(({ error }) => (error as JsonObject | undefined)?.["code"] === -32601)).toBe(
      true,
    );
  });

  it("[D67] a usage limit that the turn has reached is shown, with its reset time", async () => {
    const primary = { usedPercent: 100, windowDurationMins: 300, resetsAt: 1_795_016_675 };
    const error = { message: "You've hit your usage limit.", codexErrorInfo: "usageLimitExceeded" };
    const also = [
      { method: "account/rateLimits/updated", params: { rateLimits: { primary, secondary: null } } },
      { method: "error", params: { error, willRetry: false } },
    ];
    const world = new World({ recording: "text", also });
    await world.turn();
    const said = (await world.blocks()).filter(({ kind }) => kind === "error");
    expect(said.map(({ metadata }) => metadata)).toContainEqual(
      expect.objectContaining({
        code: "usage_limit",
        details: { provider: "codex", resets_at: primary.resetsAt * 1_000 },
      }),
    );
  });

  const PLACE = /threadId\\":\\"([\w-]+)\\",\\"turnId\\":\\"([\w-]+)/;
  const [, threadId = "", turnId = ""] =
    PLACE.exec(readFileSync(join(RECORDINGS, "text.jsonl"), "utf8")) ?? [];
  const item = { id: "c", type: "commandExecution", command: "ls", status: "inProgress" };
  const begun = { method: "item/started", params: { threadId, turnId, item } };
  const ended = { method: "item/completed", params: { threadId, turnId, item } };
  const leave = (id: Json, more: JsonObject = {}): JsonObject => ({
    ...{ id, method: "item/commandExecution/requestApproval" },
    params: { threadId, turnId, itemId: "c", command: "ls", ...more },
  });
  const form = (id: Json, requestedSchema: Json): JsonObject => ({
    ...{ id, method: "mcpServer/elicitation/request" },
    params: { threadId, turnId, serverName: "m", message: "Name?", requestedSchema },
  });
  const resolved = { method: "serverRequest/resolved", params: { threadId, requestId: 7 } };
  const HUGE = "r".repeat(2_000);
  it.each<[string, Json[], Json[]]>([
    ["a number that is open", [begun, leave(7), leave(7), leave(7, { itemId: "d" })], []],
    ["a number and its text", [begun, leave(7), leave("7", { itemId: "d" }), ended, "answer"], [7]],
    ["another question about one call", [begun, leave(7), leave(8), "answer"], [7]],
    ["a call that ends", [begun, leave(7), ended, "answer"], [7]],
    [
      "a number that comes again when it is over",
      [begun, leave(7), resolved, leave(7), ended, "answer"],
      [7],
    ],
    ["a question that is taken back", [begun, leave(7), resolved, resolved, ended], []],
    [
      "a name that is huge, or a strange number",
      [begun, leave(HUGE), leave(1e300), ended, "answer", "answer"],
      [HUGE, 1e300],
    ],
    ["ids that are none", [begun, leave(null), leave({}), leave([7]), leave(true), ended], []],
    ["forms with strange schemas", [form(7, [[]]), form(8, "x"), form(9, { properties: 1 })], []],
    [
      "answers to nothing",
      [
        { id: 0, result: {} },
        { id: 0, error: 3 },
        { id: "0", result: [] },
      ],
      [],
    ],
  ])("[D91] %s: the turn ends, and only the request is answered, once", async (_, also, expected) => {
    const world = new World({ recording: "text", also });
    expect(await world.turn()).toMatchObject({ status: "done" });
    expect(answers(world).map(({ id }) => id)).toEqual(expected);
    const asks = (await world.blocks()).flatMap(({ metadata }) => askOf(metadata)?.state ?? []);
    expect(asks).not.toContain("asked");
  });

  it("[Y46] an agent that asks without end is ended, and its turn says why", async () => {
    const requests = Array.from({ length: 110 }, (_, n) => {
      const command = { id: `call-${n}`, type: "commandExecution", command: "touch a", status: "inProgress" };
      const place = { threadId, turnId };
      return [
        { method: "item/started", params: { ...place, item: command } },
        {
          ...{ id: `flood-${n}`, method: "item/commandExecution/requestApproval" },
          params: { ...place, itemId: command.id, command: "touch a" },
        },
      ];
    }).flat();
    const world = new World({ recording: "text", also: requests, neverEnds: true });
    const end = await world.turn();
    expect(end).toMatchObject({ status: "error", reason: "failed" });
    expect(end.error).toContain("more than 100 of its requests");
  });

  it("[D84] one that is left when the turn is stopped expires, and a late answer reaches nobody", async () => {
    const world = new World({ recording: "approval-interrupted" });
    await world.start();
    const { block, ask } = await world.ask();
    const run = world.run as Run;
    await world.turns.stop("ann", world.conversation, false);
    expect(await world.over()).toMatchObject({ status: "error", reason: "cancelled" });
    expect(isProblem(await world.turns.answer("ann", block.id, ask.id, { allow: true }))).toBe(true);
    run.answer({ ask: ask.id, allow: true, shown: ask, input: null, message: "" });
    expect(answers(world)).toEqual([]);
    expect(
      askOf((await world.blocks()).find(({ id }) => id === block.id)?.metadata as JsonObject)?.state,
    ).toBe("expired");
  });
});

describe("steering", () => {
  it.each([
    [false, "that says which message it has read"],
    [true, "that does not say it, up to 0.135"],
  ])(
    "[D87] [X74] a message reaches the running turn, and is placed where the agent read it: old %s, one %s",
    async (old, _) => {
      const world = new World({
        recording: altered("steer", (lines) =>
          lines
            .filter((line) => !/nobody listens|no active turn|wrong turn|expected active/.test(line))
            .map((line) => line.replace("Write slowly.", "Do it")),
        ),
        old,
      });
      await world.start();
      const taken = async () => {
        must(
          await world.kernel.write(world.conversation, {
            agent: "ann",
            plan: (draft) =>
              draft.create({
                kind: "text",
                role: "user",
                text: "Please be brief.",
                side: false,
                status: "done",
              }),
          }),
        );
      };
      await vi.waitFor(async () => expect((await world.rows()).join()).toContain("One two th"), WAIT);
      expect(
        await world.run?.send?.({
          id: "m1",
          text: "Please be brief.",
          attached: NOTHING_ATTACHED,
          when: "next",
          taken,
        }),
      ).toBeUndefined();
      expect(await world.over()).toMatchObject({ status: "done" });
      expect(world.sent("turn/steer")).toMatchObject([
        { clientUserMessageId: "blockyard:m1", input: [{ text: "Please be brief." }] },
      ]);
      const path = (await world.rows()).filter((row) => row.startsWith("text"));
      expect(path).toEqual([
        "text done Do it",
        "text error One two th",
        "text done Please be brief.",
        "text done I have seen your remark.",
      ]);
      const blocks = await world.blocks();
      expect(blocks.at(-1)?.parent).toBe(blocks.at(-2)?.id);
    },
  );

  it("[D87] a message to nobody is not sent", async () => {
    const world = new World({ recording: "text" });
    await world.turn();
    const message = {
      id: "m",
      text: "x",
      attached: NOTHING_ATTACHED,
      when: "next" as const,
      taken: async () => undefined,
    };
    expect(isProblem(await world.run?.send?.(message))).toBe(true);
  });
});

describe("stopping", () => {
  it("[D88] interrupts the turn by its name, and ends what it left running", async () => {
    const world = new World({ recording: "interrupt-command" });
    await world.start();
    await vi.waitFor(
      async () => expect((await world.blocks()).some(({ kind }) => kind === "tool_call")).toBe(true),
      WAIT,
    );
    await world.turns.stop("ann", world.conversation, false);
    expect(await world.over()).toMatchObject({ status: "error", reason: "cancelled" });
    expect(world.sent("turn/interrupt")).toHaveLength(1);
  });

  it("[D88] interrupts sub-agents by theirs", async () => {
    const world = new World({ recording: "subagent-interrupt" });
    await world.start();
    await vi.waitFor(
      async () => expect((await world.blocks()).filter(({ kind }) => kind === "tool_call").length).toBe(3),
      WAIT,
    );
    await world.turns.stop("ann", world.conversation, false);
    await world.over();
    expect(new Set(world.sent("turn/interrupt").map(({ threadId }) => threadId)).size).toBe(2);
  });

  it("[D88] does not wait for an agent that ignores it, nor for one that does not end", async () => {
    const world = new World({ recording: "interrupt-command", ignoresInterrupt: true });
    await world.start();
    await vi.waitFor(
      async () => expect((await world.blocks()).some(({ kind }) => kind === "tool_call")).toBe(true),
      WAIT,
    );
    await world.turns.stop("ann", world.conversation, false);
    expect(await world.over()).toMatchObject({ status: "error", reason: "cancelled" });
    expect(await new World({ recording: "text", lingers: true }, { lingerMs: 200 }).turn()).toMatchObject({
      status: "done",
    });
  });

  it("[D89] an agent that only reports retries is silent", async () => {
    const world = new World({ recording: "error-unreachable" }, { silentMs: 400 });
    const turn = await world.turn();
    expect(turn).toMatchObject({ status: "error", reason: "interrupted" });
    expect((await world.rows()).join()).toContain("sent nothing for");
  });
});

describe("a peer that fails", () => {
  const lines = readFileSync(join(RECORDINGS, "interleaved.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"dir":"out"')).length;

  it("[D90] is killed before each of its lines: the turn ends with a reason, and the next one works", async () => {
    for (let dieAt = 1; dieAt <= lines; dieAt += 3) {
      const world = new World({ recording: "interleaved", dieAt });
      const turn = await world.turn();
      expect(turn, `killed at line ${dieAt}`).toMatchObject({
        status: "error",
        error: expect.stringContaining("SIGKILL"),
      });
      world.play({ recording: "text" });
      expect(await world.turn({ fresh: true }), `after ${dieAt}`).toMatchObject({ status: "done" });
    }
  }, 120_000);

  it.each([1, 2, 6, 20])(
    "[D90] hangs before line %i: it is stopped, and the turn says why",
    async (hangAt) => {
      const world = new World({ recording: "interleaved", hangAt }, { silentMs: 300, graceMs: 100 });
      expect(await world.turn()).toMatchObject({ status: "error", reason: "interrupted" });
      expect((await world.rows()).join()).toContain("sent nothing for");
    },
  );

  it.each([2, 8, 25])(
    "[D90] prints nonsense before line %i: it is shown, and the turn continues",
    async (garbageAt) => {
      const world = new World({ recording: "interleaved", garbageAt });
      expect(await world.turn()).toMatchObject({ status: "done", usage: { input: 12_600 } });
    },
  );

  it("[D90] floods: nothing is lost", async () => {
    const world = new World({ recording: "interleaved", floodAt: 10 });
    expect(await world.turn()).toMatchObject({ status: "done", usage: { input: 12_600 } });
  });
});
