/** Over all recordings of Codex: the log of a run has the same content as its stream. */
import type { Json } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../../../../test/recordings.ts";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { logFile } from "../log.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { codexParentThread, importCodexLog } from "./log.ts";

/** Tools that the stream does not show, even if they succeed. */
const HIDDEN = new Set([
  "write_stdin",
  "view_image",
  "exec",
  "tool_search",
  "image_generation",
  "update_plan",
  "local_shell",
]);

interface Display {
  readonly kind: string;
  readonly about: string;
  readonly text: string | undefined;
  readonly failed: boolean;
  readonly hidden: boolean;
}

/** A call and its result, as far as the stream and the log can both tell it. */
function displaysOf(folded: Folded): Display[] {
  const calls = folded.blocks.filter((block) => block.kind === "tool_call" && !isNested(folded, block));
  return calls.map((block) => {
    const found = folded.blocks.find(
      (other) => other.parent === block.id && other.role === "tool" && other.kind !== "image",
    );
    const kind = found?.kind ?? (block.metadata.toolName === "web_search" ? "search" : "command");
    return {
      kind,
      about: aboutOf(kind, block, found),
      text:
        found === undefined || kind === "file_change" || found.metadata.interrupted === true
          ? undefined
          : found.text,
      failed: block.status === "error",
      hidden: HIDDEN.has(String(block.metadata.toolName)),
    };
  });
}

/** A sub-agent's call: its thread is not in the stream. Calls inside code mode are. */
function isNested(folded: Folded, block: FoldedBlock): boolean {
  const parent = folded.blocks.find((other) => other.id === block.parent);
  return parent !== undefined && parent.metadata.toolName !== "exec";
}

function aboutOf(kind: string, block: FoldedBlock, found: FoldedBlock | undefined): string {
  if (kind === "command") return String(found?.metadata.command ?? block.metadata.compactParams);
  if (kind === "search") return String(block.metadata.compactParams);
  if (kind !== "file_change") return String(block.metadata.toolName).replace(/^wait_agent$/, "wait");
  const changes = (found?.metadata.changes ?? []) as readonly { path: string; kind: string }[];
  return changes
    .map(({ path, kind: how }) => `${how} ${path.replace("/workspace/demo/", "")}`)
    .sort()
    .join("\n");
}

function spoken(folded: Folded, kind: string): string[] {
  const own = folded.blocks.filter(
    (block) => block.kind === kind && block.role === "model" && block.parent === null,
  );
  return own.map((block) => block.text).filter((text) => text !== "");
}

function todoOf(folded: Folded): Json | undefined {
  const last = folded.blocks.filter((block) => block.kind === "todo").at(-1);
  const items = (last?.metadata.items ?? []) as readonly { content: string; status: string }[];
  return last === undefined
    ? undefined
    : items.map(({ content, status }) => [content, status === "completed"]);
}

function scenarioOf(name: string): string {
  return name
    .replace("-sessions", "")
    .replace(/^(codex(?:-older\/[^/]+)?\/[^/]+).*$/, "$1")
    .replace(/(\.run\d)?\.jsonl$/, "");
}

const logged = new Map<string, Recording>();
for (const log of logs.filter(({ provider }) => provider === "codex")) {
  const file = log.name.split("/").at(-1) ?? "";
  const parent = codexParentThread(logFile(file, new TextDecoder().decode(bytesOf(log))));
  if (parent === undefined && !logged.has(scenarioOf(log.name))) logged.set(scenarioOf(log.name), log);
}
const pairs = [...logged].flatMap(([scenario, log]) => {
  const runs = streams.filter(
    (stream) => stream.provider === "codex" && scenarioOf(stream.name) === scenario,
  );
  return runs.length === 0 ? [] : [[scenario, runs, log] as const];
});

function streamed(runs: readonly Recording[]): Folded {
  const provider = providers.get("codex");
  if (provider === undefined) throw new Error("no codex");
  return normalize(
    provider,
    runs.map((run) => bytesOf(run)),
  );
}

describe("stream = log", () => {
  it("[X33] there are runs to compare", () => {
    expect(pairs.length).toBeGreaterThan(60);
  });

  it.each(pairs)("[X33] %s", (_, runs, log) => {
    const live = streamed(runs);
    const stored = fold(importCodexLog(logFilesOf(log), "run"));
    expect(stored.faults).toEqual([]);
    expect(stored.unknown).toEqual({});
    expect(spoken(stored, "text")).toEqual(spoken(live, "text"));
    if (!log.name.includes("raw-reasoning")) {
      expect(spoken(stored, "thinking").join("\n")).toBe(spoken(live, "thinking").join("\n"));
    }
    const left = displaysOf(stored).filter((display) => display.kind !== "todo");
    for (const display of displaysOf(live)) {
      if (display.kind === "todo" || isBeforeLog(log, display)) continue;
      const at = left.findIndex(
        (other) =>
          other.kind === display.kind &&
          other.about === display.about &&
          (display.about === "spawn_agent" || sameText(other.text, display.text)),
      );
      expect(
        at,
        `${JSON.stringify(display)} is not in the log: ${JSON.stringify(left)}`,
      ).toBeGreaterThanOrEqual(0);
      left.splice(at, 1);
    }
    expect(left.filter((display) => !display.failed && !display.hidden)).toEqual([]);
    if (todoOf(live) !== undefined) expect(todoOf(stored)).toEqual(todoOf(live));
    checkTurns(live, stored);
  });
});

/** 0.47 writes no searches, and of a turn that was cut no calls. */
function isBeforeLog(log: Recording, display: Display): boolean {
  return (
    log.version === "0.47.0" && (display.kind === "search" || (display.failed && display.text === undefined))
  );
}

/** The log keeps the beginning and the end of a very long output. */
function sameText(logText: string | undefined, streamText: string | undefined): boolean {
  if (logText === undefined || streamText === undefined || logText === streamText) return true;
  const [head, tail] = logText.split("\n... command output truncated for persistence ...\n");
  return tail !== undefined && streamText.startsWith(head as string) && streamText.endsWith(tail);
}

function checkTurns(live: Folded, stored: Folded): void {
  const told = live.turns.filter((turn) => turn.usage !== undefined && turn.usage.input > 0);
  const sum = (turns: Folded["turns"]) => turns.reduce((total, turn) => total + (turn.usage?.input ?? 0), 0);
  if (told.length === live.turns.length) expect(sum(stored.turns)).toBe(sum(live.turns));
  expect(stored.turns.map((turn) => turn.status)).toEqual(live.turns.map((turn) => turn.status));
  const fatal = (folded: Folded) =>
    folded.blocks
      .filter((block) => block.kind === "error" && block.status === "error")
      .map((block) => block.text);
  if (fatal(stored).length > 0) expect(fatal(stored)).toEqual(fatal(live));
}

it.each(logs.filter(({ provider }) => provider === "codex").map((log) => [log.name, log] as const))(
  "[X31] %s imported twice gives the same",
  (_, log) => {
    expect(importCodexLog(logFilesOf(log), "run")).toEqual(importCodexLog(logFilesOf(log), "run"));
  },
);
