/** Recognising sources that the recordings do not have: whole documents, bodies, heads cut short. */
import { expect, it } from "vitest";
import { languageOf } from "./language.ts";
import { recognise } from "./recognise.ts";
import { compactParams, countLines, cutRow, rowOf } from "./row.ts";

it.each<[string, string, string | undefined]>([
  [
    "an array of Claude's",
    '[{"type":"system","subtype":"init","session_id":"s"},{"type":"result"}]',
    "claude stream",
  ],
  ["the same, cut", '[{"type":"system","subtype":"init","cwd":"/w","session_id":"s","to', "claude stream"],
  ["an old Claude log", '{"type":"summary","summary":"x","leafUuid":"u"}\n', "claude log"],
  ["Claude after noise", 'npm warn x\n{"type":"stream_event","event":{}}', "claude stream"],
  [
    "a whole message",
    '{"type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}',
    "anthropic stream",
  ],
  ["an Anthropic error body", '{"type":"error","error":{"type":"x","message":"y"}}', "anthropic stream"],
  ["a whole response, pretty", '{\n "object": "response",\n "output": []\n}', "openai stream"],
  ["a whole completion", '{"object":"chat.completion","choices":[]}', "openai stream"],
  ["chunks without object", 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', "openai stream"],
  ["an OpenAI error body", '{"error":{"message":"x","type":"y","code":null}}', "openai stream"],
  ["SSE cut inside its first event", 'event: message_start\ndata: {"type":"mess', "anthropic stream"],
  ["Codex with a warning before", '{"type":"item.completed","item":{"type":"error"}}', "codex stream"],
  ["a rollout", '{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}', "codex log"],
  ["an opencode error", '{"type":"error","timestamp":1,"sessionID":"s","error":{}}', "opencode stream"],
  ["gemini", '{"type":"init","timestamp":"2026","session_id":"s","model":"m"}', "gemini stream"],
  ["a byte order mark", '\ufeff{"type":"thread.started","thread_id":"x"}', "codex stream"],
  ["ACP without directions", '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}', "acp stream"],
  ["MCP", '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}', undefined],
  ["gemini's one value", '{"session_id":"s","response":"x","stats":{"models":{}}}', "gemini stream"],
  ["prose", "Hello\nworld\n", undefined],
  ["other JSON", '{"a":1}', undefined],
  ["nothing", "", undefined],
])("[P9] %s", (_, head, expected) => {
  const found = recognise(head);
  expect(found === undefined ? undefined : `${found.provider} ${found.source}`).toBe(expected);
});

it.each<[string, string | undefined]>([
  ["/a/b.ts", "typescript"],
  ["C:\\x\\Main.PY", "python"],
  ["Dockerfile", "docker"],
  [".env", "dotenv"],
  ["a.b/noext", undefined],
  ["constructor", undefined],
  ["x.constructor", undefined],
])("[P7] the language of %s is %s", (path, expected) => expect(languageOf(path)).toBe(expected));

it("[P7] rows are one line, cut between characters", () => {
  expect(rowOf("\n\n  first \nsecond")).toBe("first");
  expect(rowOf(" \n")).toBeUndefined();
  expect(cutRow(`${"x".repeat(8)}😀😀`, 10)).toBe(`${"x".repeat(8)}…`);
  expect(compactParams({ other: 1, command: ["git", "status"] })).toBe("git status");
  expect(compactParams({})).toBeUndefined();
  expect(compactParams({ a: 1 })).toBe('{"a":1}');
  expect(["", "a", "a\n", "a\nb", "\n"].map(countLines)).toEqual([0, 1, 1, 2, 1]);
});
