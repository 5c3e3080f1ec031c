/**
 * One script, played by the real Codex to `codex exec --json` and to a client of the app-server, makes the same blocks.
 * Differences are listed here, each with its reason; everything else has to be equal.
 */
import type { JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { bytesOf, streams } from "../../../../test/recordings.ts";
import type { FoldedBlock } from "../fold.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";

/** Recordings of both kinds with the same model output. */
const PAIRS: readonly (readonly [exec: string, appServer: string])[] = [
  ["command-long-output", "command-long-output"],
  ["command-ok", "command-ok"],
  ["error-event", "error-event"],
  ["long-text", "long-text"],
  ["mcp", "mcp"],
  ["mcp-broken-server", "mcp-broken-server"],
  ["output-schema", "output-schema"],
  ["patch-fail", "patch-fail"],
  ["reasoning", "reasoning"],
  ["reasoning-empty", "reasoning-empty"],
  ["text", "text"],
  ["web-search", "web-search"],
];

it.each(PAIRS)("[X77] %s by exec and %s by the app-server are the same blocks", (exec, appServer) => {
  const left = blocksOf(`codex/${exec}.jsonl`, "codex");
  const right = blocksOf(`codex-app-server/${appServer}.jsonl`, "codex-app-server");
  expect(right.blocks).toEqual(left.blocks);
  expect(right.usage).toEqual(left.usage);
});

const own = streams.filter(({ provider }) => provider === "codex-app-server");

it.each(own.map((recording) => [recording.name, recording] as const))(
  "[X72] %s leaves no question open",
  (_, recording) => {
    const provider = providers.get("codex-app-server");
    if (provider === undefined) throw new Error("no provider");
    expect([...normalize(provider, [bytesOf(recording)]).asks.values()]).not.toContain("asked");
  },
);

function blocksOf(name: string, provider: string) {
  const recording = streams.find((each) => each.name === name);
  const known = providers.get(provider);
  if (recording === undefined || known === undefined) throw new Error(`no recording ${name}`);
  const { blocks, turns } = normalize(known, [bytesOf(recording)]);
  return { blocks: blocks.filter(isShared).map(shared), usage: turns.map(({ usage }) => usage?.input ?? 0) };
}

/** What only one of the two says. */
function isShared({ kind, role, metadata }: FoldedBlock): boolean {
  // The stream of exec has no prompts.
  if (role === "user") return false;
  // Warnings come to one as items and to the other as notifications, and not the same ones; retries are worded differently.
  if (kind === "error" && metadata.notice !== undefined) return false;
  // Thinking without a word of it is no item of exec.
  return metadata.redacted !== true;
}

function shared({ kind, role, status, text, metadata }: FoldedBlock): JsonObject {
  const { toolName, command, exitCode, isError, shortResult, error, reason, code, input } = metadata;
  const block = { toolName, command, exitCode, isError, shortResult, error, reason, code, input };
  // exec has no diffs; a server's progress token is a number of its own.
  const said = kind === "file_change" ? "" : text.replace(/, progress token \d+$/, "");
  const row =
    typeof shortResult === "string" ? shortResult.replace(/, progress token \d+$/, "") : shortResult;
  return { kind, role, status, text: said, ...(block as JsonObject), shortResult: row ?? null };
}
