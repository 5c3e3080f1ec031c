/**
 * Imports a session that Claude Code has kept on disk: its records become the lines of the live stream, and these the
 * same block events.
 *
 * Keys and turn names come from the records' own ids, so importing a log twice, or again when it has grown, or a fork
 * that repeats it, names the same blocks. A record that stands twice counts once. What only the model was given
 * (attachments, caveats) and bookkeeping make no blocks; what a log does not carry (partial text that was withdrawn,
 * the words of results, live progress) is not invented.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import type { LogFiles } from "../log.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { take } from "./adapter.ts";
import { breakCall } from "./call.ts";
import { leftBranches } from "./log-branch.ts";
import { type AgentLog, agentLogs, asideFiles, promptOf, recordsOf, sideChains } from "./log-files.ts";
import {
  addCost,
  closeLogTurn,
  type LogTurns,
  limitReached,
  newLogTurns,
  noteRecord,
  openLogTurn,
} from "./log-turn.ts";
import { endRetries } from "./notice.ts";
import { newState, type Out, PROVIDER, type State } from "./state.ts";
import { tellSession } from "./turn.ts";

export { findClaudeLogs } from "./log-files.ts";

interface Import {
  readonly state: State;
  readonly out: Out;
  readonly turns: LogTurns;
  readonly seen: Set<string>;
  readonly left: ReadonlySet<string>;
  readonly agents: readonly AgentLog[];
  /** Call → the agent that its result names. */
  readonly named: ReadonlyMap<string, string>;
  /** The session's title: by its user, by the model, or an older version's summary. */
  readonly titles: { custom?: string; ai?: string; summary?: string };
}

export function importClaudeLog(files: LogFiles, run: string): readonly BlockEvent[] {
  const records = recordsOf(files.main);
  const sessionId = records.map((record) => textOf(record.sessionId)).find((id) => id !== undefined);
  const agents = [...agentLogs(files, sessionId), ...sideChains(records)];
  const work: Import = {
    state: newState(run, { asideOf: asideFiles(files) }),
    out: [],
    turns: newLogTurns(),
    seen: new Set(),
    left: leftBranches(records, isPrompt),
    agents,
    titles: {},
    named: agentNames([...records, ...agents.flatMap((agent) => agent.records)]),
  };
  for (const record of records) if (record.isSidechain !== true) importRecord(work, record);
  for (const agent of agents)
    if (!agent.isUsed && promptOf(agent) !== "Warmup") importAgent(work, agent, agent.agentId);
  tellTitle(work);
  closeLogTurn(work.state, work.out, work.turns, "interrupted");
  endRetries(work.state, work.out);
  // Background work that was running when the log ended.
  for (const call of [...work.state.calls.values()].reverse()) breakCall(work.out, call, "interrupted");
  return work.out;
}

function importRecord(work: Import, record: JsonObject): void {
  const uuid = textOf(record.uuid);
  if (uuid !== undefined) {
    if (work.seen.has(uuid)) return;
    work.seen.add(uuid);
  }
  const { state, out, turns } = work;
  const from = out.length;
  notice(work, record);
  if (record.type === "cost-state") addCost(turns, record);
  if (record.isSidechain !== true && isPrompt(record)) openLogTurn(state, out, turns, record);
  for (const line of linesOf(record)) take(state, out, line);
  if (objectOf(record.attachment).type === "max_turns_reached") limitReached(state, out, turns, record);
  noteRecord(turns, record, out.slice(from));
  if (uuid !== undefined && work.left.has(uuid)) markLeft(out, from);
  if (record.type === "assistant") importAgentsOf(work, record);
}

/** Once, and the best of them: a log that is imported again does not change its title back and forth. */
function tellTitle({ state, out, titles: { custom, ai, summary } }: Import): void {
  const title = custom ?? ai ?? summary;
  if (title !== undefined)
    out.push({ type: "session", provider: PROVIDER, ...given({ sessionId: state.sessionId }), title });
}

/** Session facts come with every record. */
function notice(work: Import, record: JsonObject): void {
  const { state, out } = work;
  state.cwd = textOf(record.cwd) ?? state.cwd;
  const model = record.type === "assistant" ? textOf(objectOf(record.message).model) : undefined;
  if (model !== undefined && model !== "<synthetic>" && record.isSidechain !== true) state.model = model;
  if (textOf(record.sessionId) !== undefined && record.version !== undefined && record.isSidechain !== true) {
    tellSession(state, out, { session_id: record.sessionId ?? null, claude_code_version: record.version });
  }
  const summary = record.type === "summary" ? record.summary : undefined;
  Object.assign(
    work.titles,
    given({ custom: wordsOf(record.customTitle), ai: wordsOf(record.aiTitle), summary: wordsOf(summary) }),
  );
}

// ---------------------------------------------------------------------------------------------------------------------
// Records → lines of the live stream.

/** None for bookkeeping and for what only the model was given. */
function linesOf(record: JsonObject): readonly JsonObject[] {
  switch (record.type) {
    case "assistant":
      return [assistantOf(record)];
    case "user":
      return userOf(record);
    case "system":
      return [record];
    case "attachment":
      return attachmentOf(record);
    default:
      // Everything that is part of the conversation has a uuid.
      return record.uuid === undefined || QUIET.has(textOf(record.type) ?? "") ? [] : [record];
  }
}

const QUIET = new Set(["progress", "file-history-snapshot", "summary"]);

function assistantOf(record: JsonObject): JsonObject {
  return given({
    ...shared(record),
    type: "assistant",
    message: record.message,
    aborted: record.isAbortedMidStream,
    error: record.error,
    is_api_error_message: record.isApiErrorMessage,
    api_error: record.apiError,
    api_error_status: record.apiErrorStatus,
    api_error_type: record.apiErrorType,
    api_error_params: record.apiErrorParams,
    thinking_duration_ms: record.thinkingDurationMs,
  }) as JsonObject;
}

function userOf(record: JsonObject): readonly JsonObject[] {
  // The CLI's own messages to the model; with `turnCompanion` the stream shows them too.
  if (record.isMeta === true && (record.turnCompanion !== true || isImageNote(record))) return [];
  const line = given({
    ...shared(record),
    type: "user",
    message: record.message,
    tool_use_result: payloadOf(record),
    tool_result_meta: resultMeta(record),
    isSynthetic: record.isMeta,
    isCompactSummary: record.isCompactSummary,
  }) as JsonObject;
  return [line];
}

/** The path of a pasted image, told to the model. */
function isImageNote(record: JsonObject): boolean {
  const content = objectOf(record.message).content;
  const said = textOf(content) ?? textOf(objectOf(listOf(content)[0]).text) ?? "";
  return said.startsWith("[Image: ");
}

/** For an MCP result the log has the content, and the rest beside it. */
function payloadOf(record: JsonObject): Json | undefined {
  const rest = objectOf(record.mcpMeta);
  if (Object.keys(rest).length === 0) return record.toolUseResult;
  return { content: record.toolUseResult ?? null, ...rest };
}

function resultMeta(record: JsonObject): Json | undefined {
  const decision = record.permissionDecision;
  const kind = record.toolDenialKind;
  if (decision === undefined && kind === undefined) return undefined;
  const results = listOf(objectOf(record.message).content).map(objectOf);
  return results.map((block) =>
    given({ id: block.tool_use_id, permission_decision: decision, non_execution_kind: kind }),
  ) as Json;
}

/** Attachments are context for the model; only typed messages and ended tasks are conversation. */
function attachmentOf(record: JsonObject): readonly JsonObject[] {
  const attachment = objectOf(record.attachment);
  if (attachment.type === "queued_command") {
    const content = attachment.prompt ?? attachment.content ?? null;
    return [{ ...shared(record), type: "user", message: { role: "user", content } } as JsonObject];
  }
  return [];
}

function shared(record: JsonObject): Record<string, Json | undefined> {
  return {
    uuid: record.uuid,
    timestamp: record.timestamp,
    session_id: record.sessionId,
    parent_tool_use_id: record.parentToolUseId,
  };
}

/** A record that begins a turn: a person's message, or a task that has ended meanwhile. */
function isPrompt(record: JsonObject): boolean {
  if (record.type !== "user" || record.isMeta === true || record.isCompactSummary === true) return false;
  const content = objectOf(record.message).content;
  const blocks = listOf(content).map(objectOf);
  if (blocks.some((block) => block.type === "tool_result")) return false;
  const said = (typeof content === "string" ? content : (textOf(blocks[0]?.text) ?? "")).trimStart();
  if (said.startsWith("[Request interrupted by user")) return false;
  return !/^<(?:local-command|command-|bash-)/.test(said);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sub-agents.

/** Which agent a call has started, as its result says. */
function agentNames(records: readonly JsonObject[]): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const record of records) {
    const agentId = wordsOf(objectOf(record.toolUseResult).agentId);
    if (agentId === undefined) continue;
    for (const block of listOf(objectOf(record.message).content).map(objectOf)) {
      if (typeof block.tool_use_id === "string") named.set(block.tool_use_id, agentId);
    }
  }
  return named;
}

function importAgentsOf(work: Import, record: JsonObject): void {
  for (const block of listOf(objectOf(record.message).content).map(objectOf)) {
    const id = textOf(block.id);
    if (block.type !== "tool_use" || id === undefined || (block.name !== "Agent" && block.name !== "Task"))
      continue;
    const agent = agentOf(work, id, textOf(objectOf(block.input).prompt));
    if (agent !== undefined) importAgent(work, agent, id);
  }
}

function agentOf(work: Import, callId: string, prompt: string | undefined): AgentLog | undefined {
  const free = work.agents.filter((agent) => !agent.isUsed);
  const name = work.named.get(callId);
  return (
    free.find((agent) => agent.toolUseId === callId) ??
    (name === undefined ? undefined : free.find((agent) => agent.agentId === name)) ??
    free.find((agent) => agent.toolUseId === undefined && prompt !== undefined && promptOf(agent) === prompt)
  );
}

function importAgent(work: Import, agent: AgentLog, callId: string): void {
  agent.isUsed = true;
  for (const record of agent.records) {
    importRecord(work, { ...record, isSidechain: true, parentToolUseId: callId });
  }
}

/** Blocks of an abandoned branch are kept, and say so. */
function markLeft(out: Out, from: number): void {
  for (let i = from; i < out.length; i++) {
    const event = out[i];
    if (event?.type !== "block-start") continue;
    const extra = { ...objectOf(event.metadata.extra), branch: "left" };
    out[i] = { ...event, metadata: { ...event.metadata, extra } };
  }
}
