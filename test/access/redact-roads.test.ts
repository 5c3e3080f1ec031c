/**
 * BLOCKYARD_REDACT_INGEST on a running server: every road by which words of a provider, an agent or a command come into the store × every
 * shape of a secret. What is looked at is what was committed, op by op, and the raw lines.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ask, askOf, isEnded } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { redactText } from "../../packages/server/src/system/redact.ts";
import { MORE_SECRETS } from "../../packages/server/src/testing/secret-shapes.ts";
import { call, pieces, type Step, say } from "../model/script.ts";
import { ModelServer } from "../model/server.ts";
import { TestHarness } from "./harness.ts";

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const FIXTURES = file("packages/providers/fixtures/");
const SAID = `Look:\n${MORE_SECRETS.map(([, text]) => text).join("\n\n")}\nthat was all.\n`;
const SECRETS = secretsIn(SAID);
const TOKEN = `ghp_${"a1B2".repeat(9)}`;
const COMMAND = `curl -H x-key:${TOKEN} https://example.org`;
const CHARS = 11;

let folder: string;
let harness: TestHarness;
let model: ModelServer;
let conversation = "";
/** The ops since the last check. */
const committed: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-roads-"));
  model = await ModelServer.start();
  vi.stubEnv("BLOCKYARD_CLAUDE", file("test/e2e/agents/fake-claude.mjs"));
  vi.stubEnv("BLOCKYARD_CODEX", file("test/e2e/agents/fake-codex.mjs"));
  vi.stubEnv("CODEX_FAKE", JSON.stringify({ recording: recorded("codex.jsonl", codexLines()) }));
  const acp = [process.execPath, file("test/e2e/agents/fake-acp.mjs"), recorded("acp.jsonl", acpLines())];
  vi.stubEnv("BLOCKYARD_ACP_ROAD", [...acp, join(folder, "heard")].join(" "));
  vi.stubEnv("ANTHROPIC_API_KEY", "key-a");
  vi.stubEnv("ANTHROPIC_BASE_URL", model.url);
  vi.stubEnv("OPENAI_API_KEY", "key-o");
  vi.stubEnv("OPENAI_BASE_URL", `${model.url}/v1`);
  harness = await TestHarness.start({ redactIngest: true, sandbox: "off" });
  harness.running.kernel.listen(({ ops }) => committed.push(JSON.stringify(ops)));
  writeFileSync(join(harness.root, "said.txt"), SAID);
});
afterAll(async () => {
  await harness.stop();
  await model.stop();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  committed.length = 0;
});

function secretsIn(text: string): readonly string[] {
  const found: string[] = [];
  redactText(text, (_, secret) => found.push(secret));
  return [...new Set(found)];
}

function recorded(name: string, lines: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );
  return path;
}

/** A stream of Claude Code: a text in pieces and as a whole, a call, its result. */
function claudeLines(text: string, command: string): readonly object[] {
  const event = (inner: object) => ({
    type: "stream_event",
    event: inner,
    session_id: "s1",
    parent_tool_use_id: null,
  });
  const message = (content: object[]) => ({
    type: "assistant",
    message: { id: "m1", role: "assistant", content },
  });
  const use = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command } };
  return [
    { type: "system", subtype: "init", session_id: "s1", model: "m", cwd: "/x", tools: [] },
    event({ type: "message_start", message: { id: "m1", role: "assistant", content: [], usage: {} } }),
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ...pieces(text, CHARS).map((piece) =>
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } }),
    ),
    message([{ type: "text", text }]),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "content_block_start", index: 1, content_block: { ...use, input: {} } }),
    ...pieces(JSON.stringify(use.input), CHARS).map((piece) =>
      event({
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json: piece },
      }),
    ),
    message([use]),
    event({ type: "content_block_stop", index: 1 }),
    event({ type: "message_stop" }),
  ];
}

function claudeEnd(text: string): readonly object[] {
  const content = [{ type: "tool_result", tool_use_id: "toolu_1", content: text }];
  return [
    { type: "user", message: { role: "user", content }, session_id: "s1" },
    { type: "result", subtype: "success", result: text, session_id: "s1", is_error: false },
  ];
}

/** A recording of Codex in which it says something else. */
function codexLines(): readonly string[] {
  const lines = readFileSync(`${FIXTURES}codex-app-server/text.jsonl`, "utf8").trimEnd().split("\n");
  return lines.flatMap((line) => {
    if (!line.includes("item/agentMessage/delta"))
      return [line.replaceAll("Hello! How can I help?", twice(SAID))];
    if (!line.includes("Hello! How c")) return [];
    return pieces(SAID, CHARS).map((piece) => line.replace("Hello! How c", () => twice(piece)));
  });
}

/** … and one of an agent over ACP. */
function acpLines(): readonly string[] {
  const lines = readFileSync(`${FIXTURES}acp/opencode/text.jsonl`, "utf8").trimEnd().split("\n");
  return lines.flatMap((line) =>
    line.includes("Hello! Ho")
      ? pieces(SAID, CHARS).map((piece) => line.replace("Hello! Ho", () => twice(piece)))
      : [line],
  );
}

/** As it stands in a JSON text in a JSON text. */
function twice(text: string): string {
  const once = JSON.stringify(text).slice(1, -1);
  return JSON.stringify(once).slice(1, -1);
}

async function turn(provider: string, prompt: string, more: object = {}): Promise<void> {
  conversation = (await harness.call("conversation.create", { title: provider }))["conversation"] ?? "";
  const started = await harness.call("turn.start", { conversation, provider, prompt, ...more });
  expect(started).toHaveProperty("turn");
  await over();
}

const over = () => expect.poll(() => harness.running.tools.turns.running, { timeout: 30_000 }).toBe(0);

function claude(plan: object): Promise<void> {
  vi.stubEnv("CLAUDE_FAKE_PLANS", recorded("plans.json", [{ go: plan }]));
  return turn("claude", "go");
}

async function ingest(path: string, body: string, token: string): Promise<void> {
  const { status, body: said } = await harness.ask(path, { method: "POST", body, token });
  expect([path, status]).toEqual([path, 200]);
  conversation = (JSON.parse(said) as { conversation: string }).conversation;
}

const bodyOf = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

async function loop(provider: string, api?: string): Promise<void> {
  if (api !== undefined) vi.stubEnv("BLOCKYARD_OPENAI_API", api);
  const steps: Step[] = [
    {
      parts: [{ thinking: SAID }, { text: SAID }, call("bash", { command: "cat said.txt" })],
      deltaChars: CHARS,
    },
    { parts: [call("read", { path: "said.txt" })] },
    say(SAID, { deltaChars: CHARS }),
  ];
  model.asked.length = 0;
  model.play(steps);
  await turn(provider, "go", { allow: ["bash"] });
  // The model was asked with what is stored, and no provider has refused that.
  expect(model.asked).toHaveLength(steps.length);
}

const ROADS: Readonly<Record<string, () => Promise<void>>> = {
  "a stream of the owner's": () =>
    ingest(
      "/v1/ingest?provider=claude",
      bodyOf([...claudeLines(SAID, COMMAND), ...claudeEnd(SAID)]),
      harness.owner,
    ),
  "a stream of an agent's": () =>
    ingest(
      "/v1/ingest?provider=claude",
      bodyOf([...claudeLines(SAID, COMMAND), ...claudeEnd(SAID)]),
      harness.agent("streamer"),
    ),
  "an import of an export": async () => ingest("/v1/import", await exportOf(), harness.owner),
  "a turn of Claude Code": () =>
    claude({
      recording: recorded("claude.jsonl", [...claudeLines(SAID, COMMAND), ...claudeEnd(SAID)]),
      ...{ lines: 1e9, act: "exit0" },
    }),
  "a turn that is cut": () =>
    claude({
      recording: recorded("cut.jsonl", claudeLines(SAID, COMMAND).slice(0, -9)),
      lines: 1e9,
      act: "kill",
    }),
  "a turn of Codex": () => turn("codex", "go"),
  "a turn over ACP": () => turn("road", "go"),
  "our own loop, Messages": () => loop("anthropic"),
  "our own loop, Responses": () => loop("openai", "responses"),
  "our own loop, Chat": () => loop("openai", "chat"),
  "a command that runs again": async () => {
    conversation = (await harness.call("conversation.create", { title: "again" }))["conversation"] ?? "";
    const metadata = { command: "cat said.txt; cat said.txt >&2", cwd: harness.root };
    const made = { conversation, kind: "command", role: "tool", status: "done", metadata };
    const { block_id } = await harness.call("block.create", made);
    const { confirmation } = await harness.call("command.confirm", { block_id });
    const { block_id: run = "" } = await harness.call("command.run", { block_id, confirmation });
    const status = async () => isEnded((await harness.running.store.block(run))?.status ?? "running");
    await expect.poll(status, { timeout: 15_000 }).toBe(true);
  },
};

it.each(Object.keys(ROADS))("[AC251] %s leaves no secret of any shape in the store", async (road) => {
  await ROADS[road]?.();
  const { store } = harness.running;
  const runs = await store.rawRuns(conversation);
  const raw = await Promise.all(
    runs.map(async (run) => String(Buffer.from(await store.raw({ conversation, run })))),
  );
  const all = [...committed, ...raw].join("\n");
  expect(all).toContain("that was all.");
  const left = [...SECRETS, TOKEN].filter((secret) => all.includes(JSON.stringify(secret).slice(1, -1)));
  expect(left).toEqual([]);
  expect(new Set(all.match(/\[redacted [^\]]+\]/g)).size).toBeGreaterThan(15);
  // No piece of one, either.
  expect(all).not.toContain(TOKEN.slice(8, 16));
});

it("[AC251] what an agent asked is stored without its secret, and allowed as it was", async () => {
  const answers = join(folder, "answers");
  const request = {
    subtype: "can_use_tool",
    tool_name: "Bash",
    input: { command: COMMAND },
    tool_use_id: "toolu_1",
  };
  const lines = [
    ...claudeLines("I ask.", COMMAND),
    { type: "control_request", request_id: "r1", request },
    ...claudeEnd("done"),
  ];
  const plan = { recording: recorded("ask.jsonl", lines), lines: 0, act: "ask", answers };
  vi.stubEnv("CLAUDE_FAKE_PLANS", recorded("plans.json", [{ go: plan }]));
  conversation = (await harness.call("conversation.create", { title: "ask" }))["conversation"] ?? "";
  await harness.call("turn.start", { conversation, provider: "claude", prompt: "go" });
  let found: { id: string; ask: Ask } | undefined;
  await expect
    .poll(
      async () => {
        const blocks = await harness.running.store.blocks({ conversation, order: "first", limit: 100 });
        for (const { id, metadata } of blocks) {
          const ask = askOf(metadata);
          if (ask?.state === "asked") found = { id, ask };
        }
        return found;
      },
      { timeout: 30_000 },
    )
    .toBeDefined();
  const answer = { block_id: found?.id, ask_id: found?.ask.id, allow: true };
  expect(await harness.call("turn.answer", answer)).toMatchObject({ state: "allowed" });
  await over();
  const told = JSON.parse(readFileSync(answers, "utf8")) as {
    response: { response: { updatedInput: object } };
  };
  expect(told.response.response.updatedInput).toEqual({ command: COMMAND });
  expect(committed.join()).not.toContain(TOKEN);
  expect(committed.join()).toContain("curl -H x-key:[redacted GitHub token] https://example.org");
});

/** An export that somebody has made without taking secrets out. */
async function exportOf(): Promise<string> {
  const other = await TestHarness.start();
  const body = bodyOf([...claudeLines(SAID, COMMAND), ...claudeEnd(SAID)]);
  const made = await other.ask("/v1/ingest?provider=claude", { method: "POST", body, token: other.owner });
  const { conversation: id } = JSON.parse(made.body) as { conversation: string };
  const { body: text } = await other.ask(`/v1/conversations/${id}/export`, { token: other.owner });
  await other.stop();
  expect(text).toContain(TOKEN);
  return text;
}
