/**
 * The server is killed while the real Codex asks, runs a command, or writes: nothing of it lives on, the next start says what became
 * of the turn, and the next turn goes on with the same thread.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { call, type Script, say } from "../../model/script.ts";
import { ModelServer } from "../../model/server.ts";
import { Server } from "../server.ts";
import { fetchCli } from "./fetch.ts";
import { codexEnv, type LabBlock, type LabTurn } from "./lab.ts";

const codex = await fetchCli("codex");
const why = "missing" in codex ? ` (not run: ${codex.missing})` : "";
const program = "program" in codex ? codex.program : "";
const WAIT = { timeout: 30_000, interval: 50 };

let folder: string;
let home: string;
let work: string;
let model: ModelServer;
let env: Record<string, string>;
let server: Server;

beforeAll(async () => {
  if (why !== "") return;
  folder = mkdtempSync(join(tmpdir(), "blockyard-codex-kill-"));
  home = join(folder, "data");
  work = join(folder, "work");
  mkdirSync(work);
  model = await ModelServer.start();
  env = codexEnv(folder, model.url, program);
  server = await Server.start({ home, root: work, env });
});
afterAll(async () => {
  if (why !== "") return;
  await server.stop();
  await model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const escalated = { sandbox_permissions: "require_escalated", justification: "Need it" };
const never = new Promise<void>(() => undefined);
const shell = (cmd: string, more: object = {}) => call("exec_command", { cmd, ...more });
const blocks = (conversation: string): Promise<LabBlock[]> => server.blocks(conversation);

const STATES: readonly (readonly [string, Script, (block: LabBlock) => boolean])[] = [
  [
    "asks",
    [{ parts: [shell("touch /never", escalated)] }],
    ({ metadata }) => metadata.ask?.state === "asked",
  ],
  ["runs a command", [{ parts: [shell("echo up; sleep 100")] }], ({ kind }) => kind === "tool_call"],
  [
    "writes",
    [{ ...say("Slowly, very slowly."), deltaChars: 4, hold: { after: 6, until: never } }],
    ({ content }) => content.includes("Slow"),
  ],
];

/** Whether it asks before it leaves its sandbox. Each turn reads the file anew. */
function configure(isAsking: boolean): void {
  const config = join(folder, "codex", "config.toml");
  const [open, asks] = [
    'sandbox_mode = "danger-full-access"',
    'sandbox_mode = "workspace-write"\napproval_policy = "on-request"',
  ];
  const text = readFileSync(config, "utf8");
  writeFileSync(config, isAsking ? text.replace(open, asks) : text.replace(asks, open));
}

describe.skipIf(why !== "")(`the server is killed while Codex works${why}`, () => {
  it.each(STATES)("[D93] while it %s", async (state, script, isThere) => {
    const { conversation } = await server.do("conversation.create", { title: "killed" });
    configure(state === "asks");
    model.play([say("Hello.")]);
    await finish(conversation, await begin(conversation, "Hello"));
    model.play(script);
    const turn = await begin(conversation, "Do it");
    await vi.waitFor(async () => expect((await blocks(conversation)).some(isThere)).toBe(true), WAIT);
    await server.kill();
    await vi.waitFor(async () => expect(await findMarked(homeMark(home))).toEqual([]), WAIT);
    server = await Server.start({ home, root: work, env });
    expect(await finish(conversation, turn)).toMatchObject({ status: "error", reason: "interrupted" });
    const left = (await blocks(conversation)).filter(
      ({ status, metadata }) => metadata.ask?.state === "asked" || !["done", "error"].includes(status),
    );
    expect(left).toEqual([]);
    model.play([say("Still here.")]);
    expect(await finish(conversation, await begin(conversation, "Go on"))).toMatchObject({ status: "done" });
    expect(JSON.stringify(model.asked.at(-1)?.body["input"])).toContain("Hello.");
  });
});

async function begin(conversation: string, prompt: string): Promise<string> {
  return (await server.do("turn.start", { conversation, provider: "codex", prompt })).turn;
}

async function finish(conversation: string, turn: string): Promise<LabTurn> {
  return vi.waitFor(async () => {
    const { turns } = (await server.do("turn.list", { conversation })) as { turns: LabTurn[] };
    const found = turns.find((each) => each.turn === turn);
    if (found === undefined || found.status === "running") throw new Error("the turn runs");
    return found;
  }, WAIT);
}
