/**
 * Something that a turn needs is missing: the agent's session, the workspace, the block to continue from. It is
 * reported helpfully, and the next turn works.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { call, say } from "../model/script.ts";
import { Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
afterEach(() => {
  vi.unstubAllEnvs();
  expect(rig.faults).toEqual([]);
});

const RESULT = '{"type":"result","subtype":"success","is_error":false,"session_id":"new","total_cost_usd":0}';

const forgetting: [string, string, string, string][] = [
  [
    "claude",
    '{"type":"system","subtype":"init","session_id":"old","model":"m"}',
    RESULT,
    `echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: old"]}'`,
  ],
  [
    "codex",
    '{"type":"thread.started","thread_id":"old"}',
    '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
    "echo 'Error: thread/resume failed: no rollout found for thread id old' >&2",
  ],
];

/** An agent that has lost every session, and says so behind these words. */
async function forgetful(
  [provider, begin, end, lost]: [string, string, string, string],
  words = "",
): Promise<{ conversation: string; ask(prompt: string): ReturnType<Rig["ended"]> }> {
  const file = join(rig.home, `${provider}.sh`);
  const script = `case "$*" in *resume*) ${words} ${lost}; exit 1;; esac\necho '${begin}'\necho '${end}'`;
  // A Codex that is too old for the app-server.
  const old = `case "$1" in app-server) echo "error: unrecognized subcommand" >&2; exit 2;; esac`;
  writeFileSync(file, `#!/bin/sh\n${old}\ncat > /dev/null &\n${script}\n`);
  chmodSync(file, 0o755);
  vi.stubEnv(`BLOCKYARD_${provider.toUpperCase()}`, file);
  const conversation = await rig.conversation();
  const ask = async (prompt: string) => {
    const { turn } = await rig.tool<{ turn: string }>("turn.start", { conversation, provider, prompt });
    return rig.ended(conversation, turn);
  };
  return { conversation, ask };
}

it.each(forgetting)("[D11] %s has lost its session: the turn starts a new one", async (...agent) => {
  const { ask } = await forgetful(agent);
  expect((await ask("One")).turn.status).toBe("done");
  const { turn, blocks } = await ask("Two");
  expect(turn).toMatchObject({ status: "done" });
  expect(blocks.filter(({ kind }) => kind === "error")).toEqual([]);
  expect(blocks.at(-1)).toMatchObject({ text: "Two", metadata: { told: { blocks: 1 } } });
});

it.each(forgetting)(
  "[D11] %s says late that it has lost its session: that is told, and the next message starts a new one",
  async (...agent) => {
    const { conversation, ask } = await forgetful(agent, 'echo \'{"type":"x"}\';');
    expect((await ask("One")).turn.status).toBe("done");
    const { turn } = await ask("Two");
    expect(turn).toMatchObject({ status: "error", reason: "failed" });
    const told = await rig.block(
      conversation,
      ({ kind, metadata, text }) =>
        kind === "error" &&
        metadata["turn"] === turn.id &&
        text.startsWith("The agent no longer has this conversation's session"),
    );
    expect(told.text).toContain("The next message starts a new session");
    expect((await ask("Three")).turn.status).toBe("done");
  },
);

it("[L21] the workspace is gone: every tool reports that, and none calls it a bug", async () => {
  rig.model.play([
    {
      parts: [
        call("read", { path: "a.txt" }),
        call("glob", { pattern: "*" }),
        call("grep", { pattern: "a" }),
        call("write", { path: "a.txt", content: "a" }),
        call("bash", { command: "pwd" }),
      ],
    },
    say("It is gone."),
  ]);
  rmSync(rig.root, { recursive: true });
  const { turn, blocks } = await rig.run("anthropic", "Look", { allow: ["write", "bash"] });
  mkdirSync(rig.root);
  expect(turn.status).toBe("done");
  const calls = blocks.filter(({ kind }) => kind === "tool_call");
  expect(calls).toHaveLength(5);
  for (const { metadata } of calls)
    expect(metadata["error"]).toMatch(/the (workspace|folder) \S+ does not exist \(any more\)$/);
});

it("[L28] a message that would wait to go on from a block that is not there is refused at once", async () => {
  let open = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  rig.model.play([say("First answer.", { hold: { after: 0, until } })]);
  const { conversation, turn } = await rig.start("anthropic", "First");
  const request = {
    conversation,
    provider: "anthropic",
    prompt: "Second",
    parent_id: `${conversation}/ann/99`,
  };
  expect(await rig.ask("turn.start", request)).toMatchObject({ problem: "not_found" });
  open();
  const { blocks } = await rig.ended(conversation, turn);
  expect(blocks.filter(({ status }) => status === "pending")).toEqual([]);
});

it("[L26] an answer that the provider's filter ended does not look whole", async () => {
  rig.model.play([{ parts: [{ text: "Half an" }], stop: "refusal" }]);
  const { turn, blocks } = await rig.run("chat", "Hi");
  expect(turn).toMatchObject({ status: "done", stopReason: "refusal" });
  expect(blocks.at(-1)).toMatchObject({
    text: "The provider's content filter ended this answer.",
    metadata: { notice: "refusal" },
  });
});

it("[L23] an address that is not the API's: the notice names it as what may be wrong", async () => {
  const page = createServer((_, response) => void response.end("<html>Log in</html>"));
  await new Promise<void>((open) => page.listen(0, "127.0.0.1", open));
  rig.speak("anthropic");
  vi.stubEnv("ANTHROPIC_BASE_URL", `http://127.0.0.1:${(page.address() as AddressInfo).port}`);
  const conversation = await rig.conversation();
  await rig.tool("turn.start", { conversation, provider: "anthropic", prompt: "Hi" });
  const told = await rig.block(conversation, ({ metadata }) => metadata["notice"] === "retry");
  await rig.tool("turn.stop", { conversation });
  expect(told.text).toMatch(/^The provider's response is not readable\. Check that the base URL/);
  page.close();
});
