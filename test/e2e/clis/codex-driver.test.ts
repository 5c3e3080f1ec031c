/**
 * The Codex driver with the real Codex and the scripted model: what it asks, how it is steered, and what is left when it is killed. In
 * this process, since modes and messages into a turn have to be given to the driver itself.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ask, askOf, type Block, isProblem, Kernel, MemoryStore, type Turn } from "@blockyard/kernel";
import { fold, logFile, normalize, type Provider, providers } from "@blockyard/providers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ProcessTracker } from "../../../packages/server/src/processes/process-tracker.ts";
import { nodeEnv } from "../../../packages/server/src/system/env.ts";
import { NOTHING_ATTACHED } from "../../../packages/server/src/turns/attachments.ts";
import type { Driver } from "../../../packages/server/src/turns/driver.ts";
import { codexDriver } from "../../../packages/server/src/turns/drivers/codex/driver.ts";
import { Prices } from "../../../packages/server/src/turns/prices.ts";
import type { Run, TurnRequest } from "../../../packages/server/src/turns/run.ts";
import { Turns } from "../../../packages/server/src/turns/turns.ts";
import type { Given } from "../../../packages/server/src/turns/write-answer.ts";
import { type Asked, call, type Part, type Script, say } from "../../model/script.ts";
import { ModelServer } from "../../model/server.ts";
import { fetchCli } from "./fetch.ts";
import { codexEnv } from "./lab.ts";

const codex = await fetchCli("codex");
const why = "missing" in codex ? ` (not run: ${codex.missing})` : "";
const program = "program" in codex ? codex.program : "";
const WAIT = { timeout: 30_000, interval: 20 };

let folder: string;
let work: string;
let model: ModelServer;
let tracker: ProcessTracker;
let kernel: Kernel;
let turns: Turns;
let driver: Driver;
let run: Run | undefined;

beforeAll(async () => {
  if (why !== "") return;
  folder = mkdtempSync(join(tmpdir(), "blockyard-codex-driver-"));
  work = join(folder, "work");
  mkdirSync(work);
  writeFileSync(join(work, "a.txt"), "one\n");
  model = await ModelServer.start();
  const env = { PATH: process.env["PATH"] ?? "", ...codexEnv(folder, model.url, program) };
  tracker = new ProcessTracker(join(folder, "data"));
  kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  writeFileSync(join(folder, "data", "prices.json"), '{"gpt-5*":{"input":1,"output":1}}');
  driver = codexDriver({ kernel, root: work, env, tracker, prices: new Prices(join(folder, "data")) });
  const start: typeof driver.start = async (begun) => {
    const started = await driver.start(begun);
    run = isProblem(started) ? undefined : started;
    return started;
  };
  turns = new Turns({ fullAccess: true, kernel, drivers: [{ ...driver, start }] });
});
afterAll(async () => {
  if (why !== "") return;
  await turns.close();
  await tracker.close();
  await model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const shell = (cmd: string, more: object = {}): Part => call("exec_command", { cmd, ...more });
const escalated = { sandbox_permissions: "require_escalated", justification: "Need it" };

async function begin(script: Script, request: Partial<TurnRequest> = {}): Promise<string> {
  model.play(script);
  const conversation = request.conversation ?? must(await kernel.createConversation("ann", "x"));
  must(await turns.start("ann", { conversation, provider: "codex", prompt: "Do it", ...request }));
  return conversation;
}

async function over(conversation: string): Promise<Turn> {
  await vi.waitFor(() => expect(turns.running).toBe(0), WAIT);
  expect(await tracker.living()).toEqual([]);
  return must(await kernel.turns(conversation)).at(-1) as Turn;
}

const blocksOf = async (conversation: string): Promise<readonly Block[]> =>
  must(await kernel.allBlocks(conversation));

async function asked(conversation: string): Promise<{ readonly block: Block; readonly ask: Ask }> {
  return vi.waitFor(async () => {
    for (const block of await blocksOf(conversation)) {
      const ask = askOf(block.metadata);
      if (ask?.state === "asked") return { block, ask };
    }
    throw new Error("nothing is asked");
  }, WAIT);
}

async function answer(conversation: string, given: Given): Promise<Ask> {
  const { block, ask } = await asked(conversation);
  must(await turns.answer("ann", block.id, ask.id, given));
  return ask;
}

const lastRequest = () => JSON.stringify(model.asked.at(-1)?.body["input"]);

function providerOf(name: string): Provider {
  const provider = providers.get(name);
  if (provider === undefined) throw new Error(`no provider ${name}`);
  return provider;
}

/**
 * What a run and its rollout both show. The prompt is the owner's block here and a record there; the log names calls as the model did
 * (`exec_command`), gives their input as the model wrote it, and has a patch's path as the model wrote it.
 */
function shared(
  blocks: readonly { kind: string; role: string; status: string; text: string }[],
): readonly string[] {
  return blocks
    .filter(({ role, kind }) => role !== "user" && kind !== "error")
    .map(
      ({ kind, status, text }) =>
        `${kind} ${status} ${kind === "tool_call" ? "" : text.replaceAll(`${work}/`, "").trimEnd()}`,
    );
}

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

describe.skipIf(why !== "")(`the Codex driver${why}`, () => {
  it("[D85] a command that is allowed runs, one that is denied does not, and the reason reaches the model", async () => {
    const file = join(folder, "outside.txt");
    const script = [{ parts: [shell(`touch ${file}; echo made`, escalated)] }, say("Made.")];
    const allowed = await begin(script, { mode: "ask" });
    expect(await answer(allowed, { allow: true })).toMatchObject({
      kind: "permission",
      title: "Need it",
      subject: { type: "command", cwd: work },
    });
    expect(await over(allowed)).toMatchObject({ status: "done" });
    expect(existsSync(file)).toBe(true);
    rmSync(file);
    const denied = await begin(
      [{ parts: [shell(`touch ${file}`, escalated)] }, say("Well then."), say("I see.")],
      { mode: "ask" },
    );
    await answer(denied, { allow: false, message: "use the folder of the project" });
    expect(await over(denied)).toMatchObject({ status: "done" });
    expect(existsSync(file)).toBe(false);
    expect(lastRequest()).toContain("use the folder of the project");
  });

  it("[D84] a patch in mode ask shows its diff, and is written when it is allowed", async () => {
    const patch = [
      "*** Begin Patch",
      "*** Update File: a.txt",
      "@@",
      "-one",
      "+two",
      "*** End Patch",
      "",
    ].join("\n");
    const conversation = await begin(
      [{ parts: [{ call: "apply_patch", input: {}, freeform: patch }] }, say("Changed.")],
      { mode: "ask" },
    );
    const { subject } = await answer(conversation, { allow: true });
    expect(subject).toMatchObject({ type: "diff", diff: expect.stringContaining("+two") });
    expect(await over(conversation)).toMatchObject({ status: "done" });
    expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("two\n");
  });

  it("[D87] a message after the second of five tools is in the next request to the model, and stands there", async () => {
    const steps = [1, 2, 3, 4, 5].map((n) => ({ parts: [shell(`sleep 0.4; echo step ${n}`)] }));
    const conversation = await begin([...steps, say("Done.")], { mode: "full" });
    const isSaid = async () => {
      const commands = (await blocksOf(conversation)).filter(
        ({ kind, status }) => kind === "command" && status === "done",
      );
      expect(commands.length).toBeGreaterThanOrEqual(2);
    };
    await vi.waitFor(isSaid, WAIT);
    const requests = model.asked.length;
    const taken = async () => {
      const spec = { kind: "text", role: "user", text: "Use tabs.", side: false, status: "done" } as const;
      must(await kernel.write(conversation, { agent: "ann", plan: (draft) => draft.create(spec) }));
    };
    expect(
      await run?.send?.({ id: "m-1", text: "Use tabs.", attached: NOTHING_ATTACHED, when: "next", taken }),
    ).toBeUndefined();
    expect(await over(conversation)).toMatchObject({ status: "done" });
    const after = model.asked
      .slice(requests)
      .map(({ body }) => JSON.stringify(body["input"]).includes("Use tabs."));
    expect(after.slice(0, 2)).toContain(true);
    const kinds = (await blocksOf(conversation)).map(({ kind, role }) => `${kind} ${role}`);
    expect(kinds.lastIndexOf("text user")).toBeGreaterThan(kinds.indexOf("command tool"));
    expect(kinds.lastIndexOf("text user")).toBeLessThan(kinds.lastIndexOf("command tool"));
  });

  it("[D85] the model receives exactly the label that was chosen", async () => {
    const questions = [
      {
        id: "style",
        header: "Style",
        question: "Tabs or spaces?",
        options: [
          { label: "Tabs", description: "a" },
          { label: "Spaces", description: "b" },
        ],
      },
    ];
    const conversation = await begin([{ parts: [call("request_user_input", { questions })] }, say("Good.")], {
      mode: "plan",
    });
    const ask = await answer(conversation, {
      allow: true,
      answer: { questions: { style: { chosen: ["Spaces"] } } },
    });
    expect(ask).toMatchObject({
      kind: "question",
      questions: [{ id: "style", options: [{ label: "Tabs" }, { label: "Spaces" }] }],
    });
    expect(await over(conversation)).toMatchObject({ status: "done" });
    expect(lastRequest()).toContain("Spaces");
  });

  it("[X78] the traffic of a run, the rollout of the same run and what was shown live are the same", async () => {
    const patch = ["*** Begin Patch", "*** Add File: new.txt", "+new", "*** End Patch", ""].join("\n");
    const conversation = await begin(
      [
        { parts: [{ thinking: "First I look." }, { text: "I look." }, shell("echo out; exit 3")] },
        { parts: [{ call: "apply_patch", input: {}, freeform: patch }] },
        say("Done."),
      ],
      { mode: "full" },
    );
    expect(await over(conversation)).toMatchObject({ status: "done", costUsd: 0.00036 });
    const [name = ""] = await kernel.store.rawRuns(conversation);
    const raw = await kernel.store.raw({ conversation, run: name });
    const traffic = normalize(providerOf("codex-app-server"), [raw]);
    const session = traffic.sessions[0]?.sessionId ?? "";
    const path = readdirSync(join(folder, "codex", "sessions"), { recursive: true, encoding: "utf8" }).find(
      (each) => each.includes(session),
    );
    const rollout = readFileSync(join(folder, "codex", "sessions", path ?? ""), "utf8");
    const logged = providerOf("codex").importLog?.(
      { main: logFile("rollout.jsonl", rollout), sidecars: [] },
      "run",
    );
    const live = await Promise.all(
      (await blocksOf(conversation)).map(async ({ id }) => must(await kernel.whole(id))),
    );
    expect(shared(traffic.blocks)).toEqual(shared(live));
    expect(shared(fold(logged ?? []).blocks)).toEqual(shared(live));
  });

  it("[D92] tells its models with their efforts, and how full its context is", async () => {
    const conversation = await begin([say("Hello.")], { mode: "full" });
    await over(conversation);
    const offers = must(await driver.offers?.(conversation, work));
    expect(offers?.models?.length).toBeGreaterThan(0);
    expect(offers?.models?.[0]).toMatchObject({ id: expect.any(String), name: expect.any(String) });
    expect(offers?.models?.some(({ efforts }) => (efforts?.length ?? 0) > 1)).toBe(true);
    expect(offers).toMatchObject({
      model: "gpt-5.5",
      usage: { usedTokens: 120, windowTokens: expect.any(Number) },
    });
    expect(await tracker.living()).toEqual([]);
  });

  it("[D99] a turn without a choice has the default model and effort again, in the same thread", async () => {
    const conversation = await begin([say("Yes.")]);
    const asked: unknown[] = [];
    for (const chosen of [undefined, { model: "gpt-5.4-mini", effort: "high" }, {}]) {
      if (chosen !== undefined) await begin([say("Yes.")], { conversation, ...chosen });
      expect(await over(conversation)).toMatchObject({ status: "done" });
      const { body } = model.asked.at(-1) as Asked;
      const { effort } = body["reasoning"] as { readonly effort: string };
      asked.push([body["model"], effort]);
    }
    const [first, second, third] = asked;
    expect(second).toEqual(["gpt-5.4-mini", "high"]);
    expect(first).not.toEqual(second);
    expect(third).toEqual(first);
  });

  it("[D90] killed while it asks, and while it works: the turn says so, and the next one works", async () => {
    const waiting = await begin([{ parts: [shell("touch /never", escalated)] }, say("No.")], { mode: "ask" });
    const { block } = await asked(waiting);
    run?.kill("interrupted");
    expect(await over(waiting)).toMatchObject({ status: "error", reason: "interrupted" });
    expect(askOf(must(await kernel.block(block.id)).metadata)?.state).toBe("expired");
    const working = await begin([{ parts: [shell("sleep 100")] }], { mode: "full", conversation: waiting });
    // Codex goes on by itself after ten seconds: what counts is that the call runs now, not how many processes that takes.
    await vi.waitFor(async () => {
      const blocks = await blocksOf(working);
      expect(blocks.map(({ metadata }) => metadata.stage)).toContain("running");
    }, WAIT);
    expect((await tracker.living()).length).toBeGreaterThan(0);
    run?.kill("interrupted");
    expect(await over(working)).toMatchObject({ status: "error", reason: "interrupted" });
    await begin([say("Still here.")], { mode: "full", conversation: waiting });
    expect(await over(waiting)).toMatchObject({ status: "done" });
  });
});
