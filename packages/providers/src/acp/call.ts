/**
 * A tool call: `tool_call`, `tool_call_update` and the call in a permission request all patch one call, known by session
 * and id. Fields patch; `content` replaces the whole list; `_meta.terminal_output_delta` appends.
 *
 * Invariant: a call has one start and one end; what comes of it later says nothing.
 */

import type { Json, JsonObject, Reason } from "@blockyard/kernel";
import { endCall, openResult, resultKey } from "../call.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { compactParams, cutRow, rowOf } from "../row.ts";
import { expiredAsk } from "./ask-state.ts";
import { commandMetadata, isCommand, outcomeOf, outputOf } from "./outcome.ts";
import { toolNameIn, unprefaced } from "./quirks.ts";
import { type Call, type Diff, elapsed, nextKey, type Out, type Session, type State } from "./state.ts";
import { closeText } from "./text.ts";
import { currentTurn } from "./turn-state.ts";

/** Takes a patch of a call in; undefined where the call has ended. */
export function patchCall(state: State, out: Out, session: Session, update: JsonObject): Call | undefined {
  const id = wordsOf(update.toolCallId) ?? "";
  if (session.ended.has(id)) return undefined;
  const known = session.calls.get(id);
  const call = known ?? openCall(state, out, session, id, update);
  if (known !== undefined) changeFace(state, out, call, update);
  // Without message ids, a call that moves on is the only sign of a new message.
  if (update.status !== undefined && session.text?.messageId === undefined) closeText(out, session);
  take(state, call, update);
  stream(state, out, call);
  if (isUnderWay(state, call, update)) run(out, call);
  showOutput(state, out, call);
  const { status } = update;
  if (status === "completed" || status === "failed") call.ended = status;
  if (call.ended !== undefined && session.replay === undefined) finish(state, out, session, call);
  return call;
}

function openCall(state: State, out: Out, session: Session, id: string, update: JsonObject): Call {
  closeText(out, session);
  const turn = session.replay === undefined ? currentTurn(state, out, session) : undefined;
  if (turn !== undefined) {
    turn.isEmpty = false;
    turn.calls++;
  }
  if (session.replay !== undefined) settleReplayed(state, out, session);
  const mcp = mcpOf(update);
  const said = mcp?.toolName ?? toolNameIn(update, state.quirks, true);
  const kind = wordsOf(update.kind);
  const call: Call = {
    ...{ key: nextKey(state, session, "call"), id, startedAt: state.now },
    ...{ toolName: said ?? kind ?? "tool", title: titleOf(state, update) ?? "", kind },
    ...{ server: mcp?.server, isMcp: mcp !== undefined, input: undefined, written: "", content: [] },
    ...{ rawOutput: undefined, meta: {}, paths: [], diffs: [], patch: undefined, terminal: undefined },
    ...{ printed: "", exitCode: undefined, isRunning: false, shown: undefined, isDenied: false },
    ...{ ended: undefined, fresh: undefined },
  };
  session.calls.set(id, call);
  out.push({
    type: "block-start",
    key: call.key,
    ...given({ parent: parentOf(session, update) }),
    kind: "tool_call",
    role: "model",
    metadata: given({
      toolUseId: id,
      toolName: call.toolName,
      server: call.server,
      displayName: said === undefined ? rowOf(call.title) : undefined,
      compactParams: rowOf(call.title),
      label: agentOf(update),
      extra: session.replay === undefined ? undefined : { replayed: true },
    }),
    text: "",
  });
  return call;
}

/** Codex's way to call a tool of an MCP server. */
function mcpOf(update: JsonObject): { toolName: string; server: string } | undefined {
  const input = objectOf(update.rawInput);
  const server = wordsOf(input.server);
  const tool = wordsOf(input.tool);
  if (objectOf(update._meta).is_mcp_tool_call !== true || server === undefined || tool === undefined)
    return undefined;
  return { toolName: `mcp__${server}__${tool}`, server };
}

/** The call that started the sub-agent whose call this is. */
function parentOf(session: Session, update: JsonObject): string | undefined {
  const id = wordsOf(objectOf(objectOf(update._meta).claudeCode).parentToolUseId);
  return (id === undefined ? undefined : session.calls.get(id)?.key) ?? session.parent;
}

function agentOf(update: JsonObject): string | undefined {
  return wordsOf(objectOf(objectOf(update._meta)["github.com/copilot"]).agentId);
}

/** Its name, title and kind may come later. */
function changeFace(state: State, out: Out, call: Call, update: JsonObject): void {
  const name = call.isMcp ? undefined : toolNameIn(update, state.quirks, false);
  const title = titleOf(state, update);
  call.kind = wordsOf(update.kind) ?? call.kind;
  const patch = given({
    toolName: name === undefined || name === call.toolName ? undefined : name,
    displayName: name === undefined || name === call.toolName ? undefined : null,
    compactParams: title === undefined || title === call.title ? undefined : rowOf(title),
  });
  call.toolName = name ?? call.toolName;
  call.title = title ?? call.title;
  if (Object.keys(patch).length > 0)
    out.push({ type: "block-meta", key: call.key, metadata: patch as JsonObject });
}

function titleOf({ quirks }: State, update: JsonObject): string | undefined {
  return wordsOf(unprefaced(textOf(update.title), quirks));
}

/** What a patch adds to what is known of a call. */
function take(state: State, call: Call, update: JsonObject): void {
  const input = inputOf(call, update.rawInput);
  if (input !== undefined) {
    // What a request for permission shows besides is no input.
    const { diff, ...rest } = input;
    if (typeof diff === "string") call.patch = diff;
    if (call.input === undefined || typeof diff !== "string") call.input = { ...call.input, ...rest };
  }
  call.rawOutput = update.rawOutput ?? call.rawOutput;
  const meta = objectOf(update._meta);
  call.meta = { ...call.meta, ...meta };
  const paths = listOf(update.locations).flatMap((place) => wordsOf(objectOf(place).path) ?? []);
  if (paths.length > 0) call.paths = paths;
  if (Array.isArray(update.content)) takeContent(state, call, update.content as readonly Json[]);
  const delta = textOf(objectOf(meta.terminal_output_delta).data);
  call.fresh = delta;
  if (delta !== undefined) call.printed += delta;
  const whole = textOf(objectOf(meta.terminal_output).data);
  if (whole !== undefined) call.printed = whole;
  const exit = objectOf(meta.terminal_exit);
  if ("exit_code" in exit) call.exitCode = wholeOf(exit.exit_code) ?? null;
}

function inputOf(call: Call, raw: Json | undefined): JsonObject | undefined {
  if (!isObject(raw)) return undefined;
  return call.isMcp && isObject(raw.arguments) ? raw.arguments : raw;
}

function takeContent(state: State, call: Call, content: readonly Json[]): void {
  call.content = content;
  const diffs = content.flatMap((part) => diffOf(objectOf(part)));
  if (diffs.length > 0) call.diffs = diffs;
  for (const part of content) {
    const { type, terminalId } = objectOf(part);
    if (type === "terminal") call.terminal = wordsOf(terminalId) ?? call.terminal;
  }
  const terminal = state.terminals.get(call.terminal ?? "");
  if (terminal !== undefined) takeTerminal(call, terminal);
}

function diffOf(part: JsonObject): Diff[] {
  const path = wordsOf(part.path);
  const after = textOf(part.newText);
  if (part.type !== "diff" || path === undefined || after === undefined) return [];
  const kind = wordsOf(objectOf(part._meta).kind);
  return [{ path, before: textOf(part.oldText), after, kind }];
}

type Terminal = { readonly output: string; readonly exitCode: number | null | undefined };

function takeTerminal(call: Call, terminal: Terminal): void {
  call.printed = terminal.output;
  call.exitCode = terminal.exitCode ?? call.exitCode;
}

/** A terminal of the client has printed something: whichever call shows it, in whatever session. */
export function feedTerminal(state: State, out: Out, id: string): void {
  const terminal = state.terminals.get(id);
  if (terminal === undefined) return;
  for (const session of state.sessions.values()) {
    for (const call of session.calls.values()) {
      if (call.terminal !== id) continue;
      takeTerminal(call, terminal);
      showOutput(state, out, call);
    }
  }
}

/** The input as it streams: JSON so far in `content`, of the agents that write it there. */
function stream(state: State, out: Out, call: Call): void {
  if (call.isRunning) return;
  if (call.input !== undefined || !state.quirks.streamsInput) return;
  const text = streamed(call);
  if (text.startsWith("{")) write(out, call, text);
}

function streamed(call: Call): string {
  return textOf(objectOf(objectOf(call.content[0]).content).text) ?? "";
}

/**
 * The input that was streamed is whole where permission is asked for, before the agent sends it as such. A command that is not the
 * one of the request stays unknown.
 */
export function takeStreamed(state: State, call: Call, said: string): void {
  if (call.input !== undefined || !state.quirks.streamsInput) return;
  const input = parseJson(streamed(call));
  if (!isObject(input)) return;
  const command = textOf(input.command);
  if (command === undefined || said.includes(command)) call.input = input;
}

function write(out: Out, call: Call, text: string): void {
  if (text.length <= call.written.length || !text.startsWith(call.written)) return;
  out.push({ type: "block-append", key: call.key, text: text.slice(call.written.length) });
  call.written = text;
}

/** Its input is whole and it runs; one that streams its input says "in_progress" before that. */
function isUnderWay(state: State, call: Call, { status }: JsonObject): boolean {
  if (call.isRunning || status === undefined || status === "pending") return false;
  return status !== "in_progress" || call.input !== undefined || !state.quirks.streamsInput;
}

/** Also where a permission is asked for: then the input is whole. */
export function run(out: Out, call: Call): void {
  if (call.isRunning) return;
  call.isRunning = true;
  const input = call.input ?? {};
  write(out, call, JSON.stringify(input));
  out.push({
    type: "block-meta",
    key: call.key,
    metadata: given({ stage: "running", input, compactParams: paramsOf(call) }),
  });
}

function paramsOf(call: Call): string | undefined {
  const path = call.paths[0];
  const said = compactParams(call.input);
  return said ?? rowOf(call.title) ?? (path === undefined ? undefined : cutRow(path));
}

/** Output of a command while it runs. Text that does not go on with what is shown waits for the end. */
function showOutput(state: State, out: Out, call: Call): void {
  if (!call.isRunning || !isCommand(call)) return;
  const text = call.printed !== "" ? call.printed : state.quirks.showsOutput ? outputOf(state, call) : "";
  const more = moreOf(call, text);
  if (more === undefined || more === "") return;
  if (call.shown === undefined) out.push(openResult(named(call), "command", commandMetadata(call), ""));
  out.push({ type: "block-append", key: resultKey(call.key), text: more });
  call.shown = text;
}

/**
 * What a text adds to what is shown; undefined where it does not begin with that. Output that only grows is not compared:
 * that would take longer with every piece.
 */
function moreOf(call: Call, text: string): string | undefined {
  const { shown, fresh } = call;
  if (shown === undefined) return text;
  if (fresh !== undefined && fresh.length === text.length - shown.length) return fresh;
  return text.startsWith(shown) ? text.slice(shown.length) : undefined;
}

function named({ key, id, toolName }: Call): { key: string; toolUseId: string; toolName: string } {
  return { key, toolUseId: id, toolName };
}

function finish(state: State, out: Out, session: Session, call: Call): void {
  run(out, call);
  session.calls.delete(call.id);
  remember(session, call.id);
  const outcome = outcomeOf(state, call);
  const durationMs = session.replay === undefined ? elapsed(call.startedAt, state.now) : undefined;
  // The text that was streamed may not be the input as it is now.
  const whole = JSON.stringify(call.input ?? {});
  const input = whole === call.written ? undefined : (call.input ?? {});
  const ended = { ...outcome, durationMs, input, compactParams: paramsOf(call) };
  const asked = expiredAsk(state, call.key);
  for (const event of endCall(named(call), ended, call.shown !== undefined)) {
    const isEnd = event.type === "block-end" && event.key === call.key;
    out.push(isEnd ? { ...event, metadata: { ...event.metadata, ...asked } } : event);
  }
}

/** In a replay a call may say that it has ended first and show its output after that. */
export function settleReplayed(state: State, out: Out, session: Session): void {
  for (const call of [...session.calls.values()])
    if (call.ended !== undefined) finish(state, out, session, call);
}

/** Calls that are open when their turn ends have no result. */
export function closeCalls(state: State, out: Out, session: Session, reason: Reason): void {
  settleReplayed(state, out, session);
  for (const call of session.calls.values()) {
    const why = call.isDenied ? "denied" : reason;
    if (call.shown !== undefined)
      out.push({ type: "block-end", key: resultKey(call.key), status: "error", reason: why });
    const cut = { success: false, shortResult: why, ...expiredAsk(state, call.key) };
    out.push({ type: "block-end", key: call.key, status: "error", reason: why, metadata: cut });
    remember(session, call.id);
  }
  session.calls.clear();
}

function remember(session: Session, id: string): void {
  session.ended.add(id);
  if (session.ended.size <= bounds.openCalls) return;
  for (const oldest of session.ended) {
    session.ended.delete(oldest);
    return;
  }
}
