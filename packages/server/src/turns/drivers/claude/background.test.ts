/**
 * What Claude Code runs in the background, when it is stopped, dies or continues at the wrong moment: the driver
 * against a scripted process (test/e2e/agents/puppet-claude.mjs). The real Claude Code is in test/e2e/clis.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Block,
  type Change,
  isProblem,
  type Json,
  type JsonObject,
  Kernel,
  MemoryStore,
  type Turn,
} from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Secrets } from "../../../ingest/secrets.ts";
import { ProcessTracker } from "../../../processes/process-tracker.ts";
import { nodeEnv } from "../../../system/env.ts";
import { OWN_TURNS } from "../../limits.ts";
import { Turns } from "../../turns.ts";
import { IdleAgents } from "../idle-agents.ts";
import { type ClaudeOptions, claudeDriver } from "./driver.ts";

const PUPPET = fileURLToPath(new URL("../../../../../../test/e2e/agents/puppet-claude.mjs", import.meta.url));
const WAIT = { timeout: 15_000, interval: 5 };

let folder: string;
let tracker: ProcessTracker;
let turns: Turns;
let kernel: Kernel;
let conversation: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-puppet-"));
  tracker = new ProcessTracker(join(folder, "home"));
  kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  conversation = (await kernel.createConversation("ann", "x")) as string;
});
afterEach(async () => {
  await turns.close();
  await tracker.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(more: Partial<ClaudeOptions> = {}): void {
  const env = { PATH: process.env["PATH"] ?? "", BLOCKYARD_CLAUDE: PUPPET, CLAUDE_PUPPET: folder };
  const driver = claudeDriver({ kernel, root: folder, env, tracker, graceMs: 300, ...more });
  turns = new Turns({ kernel, drivers: [driver], ...(more.secrets && { secrets: more.secrets }) });
}

async function ask(prompt: string): Promise<string> {
  const started = await turns.start("ann", { conversation, provider: "claude", prompt });
  if (isProblem(started)) throw new Error(started.message);
  return started.turn;
}

/** Lines for one of the processes to print. */
function say(process: number, ...lines: readonly (JsonObject | "exit")[]): void {
  const text = lines.map((line) => (line === "exit" ? line : JSON.stringify(line)));
  appendFileSync(join(folder, `say-${process}`), `${text.join("\n")}\n`);
}

/** The messages that one of them was sent. */
function heard(process: number): readonly JsonObject[] {
  const file = join(folder, `heard-${process}`);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line) as JsonObject).filter(({ type }) => type === "user");
}

/** The name of the n-th message, once it exists. */
function message(process: number, n: number): Promise<Json> {
  return vi.waitFor(() => {
    const uuid = heard(process)[n]?.["uuid"];
    if (uuid === undefined) throw new Error("it was not asked");
    return uuid;
  }, WAIT);
}

async function turn(id: string): Promise<Turn | undefined> {
  return ((await kernel.turns(conversation)) as readonly Turn[]).find((each) => each.id === id);
}

async function over(id: string): Promise<Turn> {
  const ended = await vi.waitFor(async () => {
    const found = await turn(id);
    if (found === undefined || found.status === "running" || turns.running > 0) throw new Error("it runs");
    return found;
  }, WAIT);
  return ended;
}

async function block(kind: string): Promise<Block | undefined> {
  return ((await kernel.allBlocks(conversation)) as readonly Block[]).find((each) => each.kind === kind);
}

const session_id = "5e551011-0000-4000-8000-000000000000";
const system = (subtype: string, more: JsonObject): JsonObject => ({
  ...{ type: "system", subtype, session_id },
  ...more,
});
const init = system("init", { model: "m", tools: [], capabilities: ["msg_lifecycle_v1"] });
const read = (command_uuid: Json): JsonObject => ({
  type: "command_lifecycle",
  command_uuid,
  state: "started",
});
const tasks = (...ids: readonly string[]): JsonObject =>
  system("background_tasks_changed", {
    tasks: ids.map((task_id) => ({ task_id, task_type: "local_bash", description: "Serve" })),
  });
let count = 0;
const assistant = (content: Json): JsonObject => ({
  ...{ type: "assistant", uuid: `a-${count}`, session_id, parent_tool_use_id: null },
  message: { id: `msg-${count++}`, model: "m", role: "assistant", content: [content] },
});
const text = (words: string): JsonObject => assistant({ type: "text", text: words });
const INPUT = { command: "serve", description: "Serve", run_in_background: true };
const serve = [
  assistant({ type: "tool_use", id: "toolu_1", name: "Bash", input: INPUT }),
  tasks("b1"),
  system("task_started", { task_id: "b1", tool_use_id: "toolu_1", is_backgrounded: true }),
  {
    type: "user",
    message: {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "Command running in background with ID: b1" },
      ],
    },
    tool_use_result: { stdout: "", stderr: "", backgroundTaskId: "b1" },
  },
];
const served = [
  system("task_notification", {
    ...{ task_id: "b1", tool_use_id: "toolu_1", status: "completed" },
    summary: "Serve completed (exit code 0)",
  }),
  tasks(),
];
const result: JsonObject = { type: "result", subtype: "success", result: "", session_id };

/** A turn that leaves a command in the background. */
async function serving(): Promise<void> {
  const first = await ask("Serve");
  say(0, read(await message(0, 0)), init, ...serve, text("It serves."), result);
  expect(await over(first)).toMatchObject({ status: "done" });
  expect(turns.drivers.tasks(conversation)).toMatchObject([{ id: "b1" }]);
  expect(await block("command")).toMatchObject({ status: "running" });
}

it("[D97] a turn that is stopped while it starts is not sent, and background work continues", async () => {
  open();
  await serving();
  const stopped = new Promise<string>((resolve, fail) => {
    const unlisten = kernel.listen(({ turns: changed }: Change) => {
      const begun = changed.find(({ status }) => status === "running");
      if (begun === undefined) return;
      unlisten();
      turns.stop("ann", conversation, false).then(() => resolve(begun.id), fail);
    });
  });
  await ask("Do something else");
  expect(await over(await stopped)).toMatchObject({
    status: "error",
    reason: "cancelled",
    error: "Stopped.",
  });
  expect(heard(0).length).toBe(1);
  expect(turns.drivers.tasks(conversation)).toMatchObject([{ id: "b1" }]);
  expect(await block("command")).toMatchObject({ status: "running" });
  const next = await ask("Go on");
  say(0, read(await message(0, 1)), init, text("Going on."), result);
  expect(await over(next)).toMatchObject({ status: "done" });
});

it("[D97] a process that ends when it is asked for the next turn ends its background work, and another one takes the turn", async () => {
  open();
  await serving();
  const next = await ask("Go on");
  await message(0, 1);
  say(0, "exit");
  say(1, read(await message(1, 0)), init, text("Going on."), result);
  expect(await over(next)).toMatchObject({ status: "done" });
  expect(await block("command")).toMatchObject({ status: "error", metadata: { reason: "interrupted" } });
});

it("[D97] a command's last output is stored once, without secrets", async () => {
  open({ secrets: new Secrets() });
  await serving();
  const call = async () => {
    const whole = await kernel.whole((await block("tool_call"))?.id ?? "");
    return isProblem(whole) ? whole.message : whole.text;
  };
  say(0, ...served);
  await vi.waitFor(async () => expect(await block("command")).toMatchObject({ status: "done" }), WAIT);
  expect(JSON.parse(await call())).toEqual(INPUT);
});

async function mode(): Promise<unknown> {
  const record = await kernel.conversation(conversation);
  return isProblem(record) ? record : record.metadata.mode;
}

/** Turns that the agent has begun by itself. */
async function own(): Promise<readonly Turn[]> {
  return ((await kernel.turns(conversation)) as readonly Turn[]).slice(1);
}

it("[AC319] a turn that it begins by itself has the mode that the owner has chosen, and changes that to no freer one", async () => {
  open();
  await serving();
  await kernel.write(conversation, {
    agent: "ann",
    plan: (draft) => {
      draft.conversation({ metadata: { mode: "plan" } });
      return null;
    },
  });
  say(0, { ...init, permissionMode: "acceptEdits" }, text("It is served."));
  const asked = () => readFileSync(join(folder, "heard-0"), "utf8");
  await vi.waitFor(() => expect(asked()).toContain('"subtype":"set_permission_mode","mode":"plan"'), WAIT);
  expect(await own()).toMatchObject([{ status: "running" }]);
  say(0, result);
  await vi.waitFor(async () => expect(await own()).toMatchObject([{ status: "done" }]), WAIT);
  await vi.waitFor(() => expect(turns.running).toBe(0), WAIT);
  expect(await mode()).toBe("plan");
});

/** A result in the midst of a turn, while an agent works in the background. */
const spent = (costUSD: Json): JsonObject => ({
  ...result,
  model_usage_since_last_result: { m: { costUSD } },
});

it.each<Json>([-3, -0.1, 1e300, "much"])(
  "[D98] an impossible cost of %j does not change a running turn's cost",
  async (cost) => {
    open();
    const id = await ask("Explore");
    const agents = system("background_tasks_changed", {
      tasks: [{ task_id: "a1", task_type: "local_agent", description: "Explore" }],
    });
    say(
      0,
      read(await message(0, 0)),
      init,
      agents,
      text("It explores."),
      spent(0.5),
      spent(cost),
      spent(0.25),
    );
    await vi.waitFor(async () => expect(await turn(id)).toMatchObject({ costUsd: 0.75 }), WAIT);
    expect(await turn(id)).toMatchObject({ status: "running" });
  },
);

const agents = (...ids: readonly string[]): JsonObject =>
  system("background_tasks_changed", {
    tasks: ids.map((task_id) => ({ task_id, task_type: "local_agent", description: "Explore" })),
  });

it("[D96] if one agent reports and is continued before the other one ends, nothing is left over and no turn fails", async () => {
  open();
  const first = await ask("Explore");
  say(0, read(await message(0, 0)), init, agents("a1", "a2"), text("They explore."), result);
  say(0, agents("a2"), init, agents());
  await vi.waitFor(async () => expect(await turn(first)).toMatchObject({ status: "done" }), WAIT);
  // It is still at work: new prompts wait.
  const next = await ask("Go on");
  say(0, text("One has reported."), result, init, text("So has the other."), result);
  const read1 = message(0, 1);
  say(0, read(await read1), init, text("Going on."), result);
  expect(await over(next)).toMatchObject({ status: "done" });
  const all = (await kernel.turns(conversation)) as readonly Turn[];
  expect(all.map(({ status, error }) => error ?? status)).toEqual(all.map(() => "done"));
  expect(await block("error")).toBeUndefined();
});

it("[AC320] an agent that runs something else in the background between turns does not restart its wait", async () => {
  open();
  await serving();
  const [changed, renewed] = [
    vi.spyOn(IdleAgents.prototype, "changed"),
    vi.spyOn(IdleAgents.prototype, "renew"),
  ];
  say(0, tasks("b1", "b2"));
  await vi.waitFor(() => expect(turns.drivers.tasks(conversation).length).toBe(2), WAIT);
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), WAIT);
  expect(renewed).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

it("[AC320] one that goes on by itself without end is ended, and the conversation says so; a message begins anew", async () => {
  open();
  await serving();
  for (let n = 1; n <= OWN_TURNS; n++) {
    say(0, init, text(`On and on ${n}.`), result);
    await vi.waitFor(async () => {
      expect((await own()).filter(({ status }) => status === "done").length).toBe(n);
      expect(turns.running).toBe(0);
    }, WAIT);
  }
  say(0, init, text("One more."), result);
  await vi.waitFor(async () => expect(await block("error")).toBeDefined(), WAIT);
  const told = await kernel.whole((await block("error"))?.id ?? "");
  expect(told).toMatchObject({ text: expect.stringContaining(`${OWN_TURNS} times`) });
  expect((await own()).length).toBe(OWN_TURNS);
  await vi.waitFor(() => expect(turns.drivers.tasks(conversation)).toEqual([]), WAIT);
  const next = await ask("Go on");
  say(1, read(await message(1, 0)), init, ...serve, text("Going on."), result);
  expect(await over(next)).toMatchObject({ status: "done" });
  say(1, init, text("Once more."), result);
  await vi.waitFor(async () => expect((await own()).length).toBe(OWN_TURNS + 2), WAIT);
});
