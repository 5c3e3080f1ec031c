/** BLOCKYARD_REDACT_INGEST on a running server: whatever comes in from outside, by every route. */
import { tmpdir } from "node:os";
import { makeConfig } from "@blockyard/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TestHarness } from "./harness.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;
const LINES = [
  { type: "system", subtype: "init", session_id: "s1", model: "m", cwd: "/x", tools: [] },
  {
    type: "assistant",
    message: { id: "m1", role: "assistant", content: [{ type: "text", text: `use ${SECRET}` }] },
  },
  { type: "result", subtype: "success", result: `use ${SECRET}`, session_id: "s1" },
];

let harness: TestHarness;
beforeAll(async () => {
  const { redactIngest } = makeConfig({
    env: { BLOCKYARD_REDACT_INGEST: "1" },
    home: tmpdir(),
    root: tmpdir(),
    port: 0,
  });
  harness = await TestHarness.start({ redactIngest: redactIngest === true });
});
afterAll(() => harness.stop());

/** Everything that the store has of a conversation. */
async function stored(conversation: string): Promise<string> {
  const { store } = harness.running;
  const blocks = await store.blocks({ conversation, order: "first", limit: 1_000 });
  const texts = await Promise.all(blocks.map(({ id }) => store.text(id)));
  const runs = await store.rawRuns(conversation);
  const raw = await Promise.all(runs.map(async (run) => Buffer.from(await store.raw({ conversation, run }))));
  return JSON.stringify([blocks, texts, raw.map(String)]);
}

it("[AC251] a stream of the owner's or of an agent, and an import, leave no secret in the store", async () => {
  const body = LINES.map((line) => `${JSON.stringify(line)}\n`).join("");
  const exported = await exportOf(body);
  for (const [path, token, sent] of [
    ["/v1/ingest?provider=claude", harness.owner, body],
    ["/v1/ingest?provider=claude", harness.agent("streamer"), body],
    ["/v1/import", harness.owner, exported],
  ] as const) {
    const answer = await harness.ask(path, { method: "POST", body: sent, token });
    expect([path, answer.status]).toEqual([path, 200]);
    const { conversation } = JSON.parse(answer.body) as { conversation: string };
    const all = await stored(conversation);
    expect(all).toContain("[redacted GitHub token]");
    expect(all).not.toContain(SECRET);
  }
});

/** An export that somebody has made without taking secrets out. */
async function exportOf(body: string): Promise<string> {
  const other = await TestHarness.start();
  const made = await other.ask("/v1/ingest?provider=claude", { method: "POST", body, token: other.owner });
  const { conversation } = JSON.parse(made.body) as { conversation: string };
  const { body: text } = await other.ask(`/v1/conversations/${conversation}/export`, { token: other.owner });
  await other.stop();
  expect(text).toContain(SECRET);
  return text;
}
