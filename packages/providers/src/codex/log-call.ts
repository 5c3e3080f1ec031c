/**
 * A tool call of a rollout log: the model's request, and its outcome.
 *
 * The log has the call as the model wrote it, the output as the model read it, and (from 0.130 on) an event with the
 * real outcome: exit code, diff, MCP result. The event wins if there is one; calls that failed before they ran have
 * none, and only their output says why.
 */

import type { Json, JsonObject, Reason } from "@blockyard/kernel";
import { patchChanges } from "../apply-patch.ts";
import type { Outcome } from "../call.ts";
import { isObject, parseJson, parseObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { changesOutcome, outputRow, type TodoItem, todoOutcome, todoStatus } from "../outcome.ts";
import { given, listOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { compactParams, rowOf } from "../row.ts";
import { agentState, type Command, type ToolItem } from "./item.ts";
import type { ToolOutput } from "./log-output.ts";
import { agentsText, type CallFace, commandOutcome, outcomeOf, pathsRow } from "./outcome.ts";
import { joinWords, unwrapCommand, unwrapWords } from "./shell.ts";

export interface LoggedCall {
  readonly name: string;
  readonly namespace: string | undefined;
  /** As the model wrote it. */
  readonly inputText: string;
  /** Parsed, where it is JSON; the text itself for tools that take text. */
  readonly input: Json;
}

export function readCall(payload: JsonObject): LoggedCall {
  if (payload.type === "local_shell_call") {
    const input = objectOf(payload.action);
    return { name: "local_shell", namespace: undefined, inputText: JSON.stringify(input), input };
  }
  const name = wordsOf(payload.name) ?? (payload.type === "tool_search_call" ? "tool_search" : "tool");
  const namespace = wordsOf(payload.namespace);
  const raw = payload.arguments ?? payload.input ?? {};
  if (typeof raw !== "string") return { name, namespace, inputText: JSON.stringify(raw), input: raw };
  const isJson = payload.type === "function_call";
  const input = isJson ? (parseJson(raw, bounds.inputDepth) ?? raw) : raw;
  return { name, namespace, inputText: raw, input };
}

export function displayOfCall(call: LoggedCall): Omit<CallFace, "input"> {
  const mcp = mcpNames(call);
  if (mcp !== undefined) {
    return {
      toolName: `mcp__${mcp.server}__${mcp.tool}`,
      displayName: mcp.tool,
      server: mcp.server,
      compactParams: compactParams(call.input),
    };
  }
  const command = commandOf(call);
  if (command !== undefined && !isPatchCommand(command)) {
    return { toolName: call.name, displayName: "Shell", compactParams: rowOf(command.command) };
  }
  if (call.name === "apply_patch" || command !== undefined) {
    const paths = patchChanges(patchText(call) ?? "").map((change) => change.path);
    return { toolName: call.name, displayName: "Patch", compactParams: pathsRow(paths) };
  }
  if (call.name === "update_plan") {
    const steps = listOf(objectOf(call.input).plan).length;
    return { toolName: call.name, displayName: "Plan", compactParams: plural(steps, "step") };
  }
  const message = textOf(objectOf(call.input).message);
  const chars = call.name === "write_stdin" ? textOf(objectOf(call.input).chars) : undefined;
  return {
    toolName: call.name,
    compactParams: rowOf(message ?? chars ?? "") ?? compactParams(call.input),
  };
}

/** `item` is the event that the log has of this call; `running` the command that a `write_stdin` speaks to. */
export function outcomeOfCall(
  call: LoggedCall,
  output: ToolOutput,
  item: ToolItem | undefined,
  running: Command | undefined,
): Outcome {
  if (item?.type === "command" && item.exitCode === -1) return killed(item);
  if (item !== undefined) return outcomeOf(item);
  if (output.aborted === true) return broken(call, output, "interrupted");
  const command = commandOf(call) ?? (call.name === "write_stdin" ? running : undefined);
  if (call.name === "apply_patch" || isPatchCommand(command)) return patchOutcome(call, output);
  if (command !== undefined) return ranOutcome(call, command, output);
  if (call.name === "update_plan" && output.text === "Plan updated") return planOutcome(call);
  if (isFailure(call, output)) return broken(call, output, refusal(output.text));
  return plainOutcome(call, output);
}

/** A process that was still running when Codex went away. */
function killed(item: Command): Outcome {
  const outcome = commandOutcome(item);
  const result = outcome.result as NonNullable<Outcome["result"]>;
  return {
    ...outcome,
    result: { ...result, metadata: { ...result.metadata, interrupted: true } },
    reason: "interrupted",
    shortResult: "interrupted",
    error: undefined,
  };
}

/** The names under which a shell is offered, by version, and where each has its command. */
export function commandOf(call: LoggedCall): Command | undefined {
  const input = objectOf(call.input);
  const raw = COMMAND_FIELDS.get(call.name);
  if (raw === undefined) return undefined;
  const value = raw.map((field) => input[field]).find((field) => field !== undefined);
  const words = listOf(value).filter((word) => typeof word === "string");
  const text = textOf(value);
  if (text === undefined && words.length === 0) return undefined;
  return {
    type: "command",
    command: text === undefined ? unwrapWords(words) : unwrapCommand(text),
    rawCommand: text ?? joinWords(words),
    output: "",
    status: "done",
    ...given({ cwd: wordsOf(input.workdir) ?? wordsOf(input.working_directory) }),
  };
}

const COMMAND_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["exec_command", ["cmd", "command"]],
  ["shell", ["command"]],
  ["shell_command", ["command"]],
  ["local_shell", ["command"]],
  ["container.exec", ["cmd", "command"]],
  ["unified_exec", ["input"]],
]);

function ranOutcome(call: LoggedCall, command: Command, output: ToolOutput): Outcome {
  if (!output.hasRun) return broken(call, output, refusal(output.text), command);
  const failed = output.exitCode !== undefined && output.exitCode !== 0;
  const ran: Command = {
    ...command,
    output: output.text,
    status: failed ? "failed" : "done",
    ...given({
      exitCode: output.exitCode ?? (output.session === undefined ? undefined : null),
      durationMs: output.durationMs,
    }),
  };
  const outcome = commandOutcome(ran);
  if (output.session === undefined || outcome.result === undefined) return outcome;
  const { kind, text, metadata } = outcome.result;
  return {
    ...outcome,
    result: { kind, text, metadata: { ...metadata, background: true } },
    shortResult: "still running",
  };
}

/** Without an event the patch itself is the best account of what was changed. */
function patchOutcome(call: LoggedCall, output: ToolOutput): Outcome {
  const done = output.hasRun ? (output.exitCode ?? 0) === 0 : /^Success\b/.test(output.text);
  const changes = patchChanges(patchText(call) ?? "");
  if (!done || changes.length === 0) return broken(call, output, refusal(output.text));
  return changesOutcome(changes);
}

/** The patch inside a call, wherever its tool takes it. */
function patchText(call: LoggedCall): string | undefined {
  const input = objectOf(call.input);
  const command = COMMAND_FIELDS.get(call.name)?.map((field) => input[field]) ?? [];
  const listed = command.flatMap((value) => listOf(value));
  const candidates: readonly (Json | undefined)[] = [
    call.input,
    input.input,
    input.patch,
    ...command,
    ...listed,
  ];
  for (const candidate of candidates) {
    const start = typeof candidate === "string" ? candidate.indexOf("*** Begin Patch") : -1;
    if (start !== -1) return (candidate as string).slice(start).replace(/(\*\*\* End Patch)[\s\S]*$/, "$1\n");
  }
  return undefined;
}

/** `apply_patch` as a program, with the patch as its argument or on its standard input. */
function isPatchCommand(command: Command | undefined): boolean {
  return (
    command !== undefined &&
    /^\s*(?:cd [^\n&;|]+&&\s*)?apply_patch\b[\s\S]*\*\*\* Begin Patch\b/.test(command.command)
  );
}

function planOutcome(call: LoggedCall): Outcome {
  return todoOutcome(listOf(objectOf(call.input).plan).map((step) => planItem(objectOf(step))));
}

function planItem(step: JsonObject): TodoItem {
  return { content: textOf(step.step) ?? "", status: todoStatus(step.status) };
}

function plainOutcome(call: LoggedCall, output: ToolOutput): Outcome {
  const agents = AGENT_TOOLS.has(call.name) ? agentsOutput(output.text) : undefined;
  const text = agents?.text ?? output.text;
  return {
    result: {
      kind: "tool_result",
      text,
      metadata: given({
        images: output.images.length > 0 ? output.images : undefined,
        result: agents?.result,
        durationMs: output.durationMs,
      }),
    },
    failed: false,
    shortResult:
      output.images.length > 0 && text === "" ? plural(output.images.length, "image") : outputRow(text),
    durationMs: output.durationMs,
  };
}

const AGENT_TOOLS = new Set([
  "spawn_agent",
  "wait",
  "wait_agent",
  "close_agent",
  "send_input",
  "resume_agent",
]);

/** `{status: {thread: {completed: text}}}`: what the agents said, and the payload for who needs it. */
function agentsOutput(text: string): { text: string; result: JsonObject } | undefined {
  const result = parseObject(text);
  if (result === undefined) return undefined;
  const states = isObject(result.status)
    ? Object.entries(result.status).map(([thread, state]) => agentState(thread, state))
    : result.previous_status === undefined
      ? []
      : [agentState("", result.previous_status)];
  return { text: states.length === 0 ? text : agentsText(states), result };
}

/** Codex answers a call that it cannot carry out with a sentence in place of the output. */
function isFailure(call: LoggedCall, output: ToolOutput): boolean {
  if (output.failed === true) return true;
  if (
    /^(unsupported call: |unsupported custom tool call: |failed to parse |err: |tool call error: )/.test(
      output.text,
    )
  )
    return true;
  if (call.name === "update_plan") return output.text !== "Plan updated";
  return call.name === "view_image" && output.images.length === 0 && !/^attached /.test(output.text);
}

function refusal(text: string): Reason {
  return /rejected|denied by|not permitted by|forbidden/i.test(text) ? "denied" : "failed";
}

function broken(call: LoggedCall, output: ToolOutput, reason: Reason, ran?: Command): Outcome {
  const command = ran ?? commandOf(call);
  const text = unquoted(output.text);
  const metadata = {
    isError: true,
    ...(command === undefined || isPatchCommand(command)
      ? {}
      : given({
          command: command.command,
          cwd: command.cwd,
          interrupted: reason === "interrupted" ? true : undefined,
        })),
  };
  const isCommand = "command" in metadata;
  return {
    result: { kind: isCommand ? "command" : "tool_result", text, metadata },
    failed: true,
    reason,
    shortResult: reason,
    error: rowOf(text.replace(/^Script error:\n/, "")) ?? reason,
    durationMs: output.durationMs,
  };
}

/** `err: "…"` is a debug print of the message. */
function unquoted(text: string): string {
  if (!text.startsWith('err: "')) return text;
  const message = parseJson(text.slice("err: ".length));
  return typeof message === "string" ? message : text;
}

/** `mcp__server__tool`, or a tool in the namespace of a server. */
function mcpNames(call: LoggedCall): { server: string; tool: string } | undefined {
  const namespace = /^mcp__(.*[^_])_*$/.exec(call.namespace ?? "")?.[1];
  if (namespace !== undefined) return { server: namespace, tool: call.name };
  const match = /^mcp__(.+?)__(.+)$/.exec(call.name);
  return match === null ? undefined : { server: match[1] as string, tool: match[2] as string };
}
