/**
 * Output items of the Responses API: which tool an item calls, with what input, and what came of it.
 *
 * Pure tables over one item. Messages and reasoning are not here: they stream, and responses.ts joins them.
 */

import type { Ask, Json, JsonObject } from "@blockyard/kernel";
import { patchChanges } from "../apply-patch.ts";
import type { Outcome } from "../call.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, numberOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import { joinDiffs, unifiedDiff } from "../unified-diff.ts";
import { imageMetadata, imageOf } from "./chat-content.ts";

export interface ItemCall {
  readonly toolUseId: string;
  readonly toolName: string;
  /** Runs at the provider. */
  readonly remote: boolean;
  /** Its result comes as an item of its own, or from the caller; otherwise its own item says what came of it. */
  readonly waits: boolean;
  readonly server?: string | undefined;
  /** The input as text, as far as the item has it; empty where it streams. */
  readonly inputText: string;
  /** The input is plain text, not JSON. */
  readonly isPlain?: boolean;
  readonly ask?: Ask | undefined;
  /** Its input has delta events of its own, so that what the item holds at first may come again. */
  readonly streams?: boolean;
}

/** The call that an item is; undefined for an item that is none. */
export function itemCall(item: JsonObject): ItemCall | undefined {
  const type = textOf(item.type) ?? "";
  const toolUseId = wordsOf(item.call_id) ?? wordsOf(item.id) ?? "";
  const readInput = Object.hasOwn(INPUTS, type) ? INPUTS[type] : undefined;
  if (type === "function_call" || type === "mcp_call" || type === "mcp_approval_request") {
    return {
      toolUseId,
      toolName: wordsOf(item.name) ?? type,
      remote: type === "mcp_call",
      waits: type !== "mcp_call",
      server: wordsOf(item.server_label),
      inputText: jsonText(item.arguments),
      streams: type !== "mcp_approval_request",
      ask: type === "mcp_approval_request" ? askOf(item, toolUseId) : undefined,
    };
  }
  if (type === "custom_tool_call") {
    return {
      toolUseId,
      toolName: wordsOf(item.name) ?? type,
      remote: false,
      waits: true,
      inputText: textOf(item.input) ?? "",
      isPlain: true,
      streams: true,
    };
  }
  if (readInput === undefined && !type.endsWith("_call")) return undefined;
  const input = readInput === undefined ? rest(item) : readInput(item);
  const isEmpty = input === undefined || (isObject(input) && Object.keys(input).length === 0);
  return {
    toolUseId,
    toolName: type.replace(/_call$/, ""),
    remote: !RUN_BY_CALLER.has(type),
    waits: RUN_BY_CALLER.has(type) || type === "program",
    inputText: isEmpty ? "" : JSON.stringify(input),
    streams: type === "code_interpreter_call" || type === "shell_call",
  };
}

const RUN_BY_CALLER = new Set([
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
]);

const INPUTS: Readonly<Record<string, (item: JsonObject) => Json | undefined>> = {
  web_search_call: (item) => item.action,
  file_search_call: (item) => pick(item, "queries"),
  code_interpreter_call: (item) => (item.code ? pick(item, "code", "container_id") : undefined),
  image_generation_call: (item) =>
    pick(item, "revised_prompt", "action", "size", "quality", "background", "output_format"),
  computer_call: computerInput,
  local_shell_call: (item) => item.action,
  shell_call: (item) => commandsFirst(item.action),
  apply_patch_call: (item) => item.operation,
  tool_search_call: (item) => item.arguments,
  program: (item) => pick(item, "code"),
};

/** What the model wants to do, and what the API wants somebody to agree to first. */
function computerInput(item: JsonObject): Json | undefined {
  const action = item.action ?? pick(item, "actions");
  const isChecked = listOf(item.pending_safety_checks).length > 0;
  return isChecked && isObject(action) ? { ...action, ...pick(item, "pending_safety_checks") } : action;
}

/** The input of a call whose text is whole; undefined where it is no JSON. */
export function inputFrom(call: ItemCall, text: string): Json | undefined {
  if (call.isPlain === true) return text;
  return text.trim() === "" ? {} : parseJson(text, bounds.inputDepth);
}

/** What a remote call's own item says about its end. */
export function itemOutcome(item: JsonObject, input: Json | undefined): Outcome {
  const failed =
    item.status === "failed" ||
    item.status === "incomplete" ||
    isObject(item.error) ||
    wordsOf(item.error) !== undefined;
  const native = objectOf(item.error);
  const error = wordsOf(item.error) ?? wordsOf(native.message) ?? wordsOf(partsText(native.content));
  switch (item.type) {
    case "web_search_call":
      return { failed, error, ...sources(objectOf(item.action), item) };
    case "file_search_call":
      return { failed, error, ...files(listOf(item.results)) };
    case "code_interpreter_call":
      return { failed, error, ...logs(item, input) };
    case "mcp_call":
      return { failed, error, ...plainResult(textOf(item.output) ?? error ?? "", item.output) };
    case "image_generation_call":
      return { failed, error, shortResult: failed ? undefined : "1 image" };
    default:
      return { failed, error, ...saidResult(item) };
  }
}

/** A tool that nobody has told us about says what came of it under one of these names. */
const RESULTS = ["output", "outputs", "result", "results"] as const;

function saidResult(item: JsonObject): Omit<Outcome, "failed"> {
  const said = RESULTS.map((name) => item[name]).find((value) => value !== undefined && value !== null);
  if (said === undefined) return {};
  const isParts = typeof said === "string" || listOf(said).every((part) => isObject(part) && "text" in part);
  return plainResult(isParts ? partsText(said) : JSON.stringify(said, null, 2), said);
}

/** Images that an item produced: below its call, beside its result. */
export function itemImages(
  item: JsonObject,
): readonly { readonly text: string; readonly metadata: JsonObject }[] {
  if (item.type === "image_generation_call" && wordsOf(item.result) !== undefined) {
    const mediaType = `image/${wordsOf(item.output_format) ?? "png"}`;
    return [
      {
        text: textOf(item.revised_prompt) ?? "",
        metadata: { mediaType, data: textOf(item.result) as string },
      },
    ];
  }
  if (item.type !== "code_interpreter_call") return [];
  return listOf(item.outputs)
    .filter(isObject)
    .filter((output) => output.type === "image" && wordsOf(output.url) !== undefined)
    .map((output) => ({ text: "", metadata: imageMetadata(textOf(output.url) as string) }));
}

/** The call id that an output item answers; undefined for an item that is no output. */
export function answers(item: JsonObject): string | undefined {
  const type = textOf(item.type) ?? "";
  if (type === "mcp_approval_response") return textOf(item.approval_request_id) ?? "";
  return type.endsWith("_output") ? (textOf(item.call_id) ?? "") : undefined;
}

/** The result that an output item brings to the call with this input. */
export function outputOutcome(item: JsonObject, input: Json | undefined): Outcome {
  const failed = item.status === "failed" || item.status === "incomplete";
  switch (item.type) {
    case "shell_call_output":
      return shellOutcome(listOf(item.output), input);
    case "local_shell_call_output":
      return localShellOutcome(item, input);
    case "apply_patch_call_output":
      return { failed, ...patched(item, input, failed) };
    case "computer_call_output":
      return {
        failed,
        ...plainResult(wordsOf(objectOf(item.output).image_url) ? "[screenshot]" : "", item.output),
      };
    case "tool_search_output":
      return {
        failed,
        ...plainResult(
          listOf(item.tools)
            .map((tool) => textOf(objectOf(tool).name) ?? "?")
            .join("\n"),
          item.tools,
        ),
      };
    case "mcp_approval_response": {
      const allowed = item.approve === true;
      return { failed: !allowed, reason: allowed ? undefined : "denied", shortResult: wordsOf(item.reason) };
    }
    default:
      return { failed, ...plainResult(partsText(item.output ?? item.result), item.output ?? item.result) };
  }
}

/** Shell output as it is when whole: one command block over all commands. */
function shellOutcome(output: readonly Json[], input: Json | undefined): Outcome {
  const parts = output.filter(isObject);
  const last = objectOf(parts.at(-1)?.outcome);
  const exitCode = last.type === "exit" ? (numberOf(last.exit_code) ?? null) : null;
  const stderr = parts.map((part) => textOf(part.stderr) ?? "").join("");
  const text = parts.map((part) => textOf(part.stdout) ?? "").join("");
  const failed = parts.some((part) => {
    const outcome = objectOf(part.outcome);
    return outcome.type === "timeout" || (outcome.type === "exit" && outcome.exit_code !== 0);
  });
  const metadata = {
    ...commandMetadata(input),
    exitCode,
    ...given({ stderr: stderr === "" ? undefined : stderr }),
  };
  const interrupted = last.type === "timeout" ? { interrupted: true } : {};
  const shortResult = failed
    ? exitCode === null
      ? "timed out"
      : `exit code ${exitCode}`
    : (rowOf(text) ?? "no output");
  return {
    failed,
    shortResult,
    result: { kind: "command", text, metadata: { ...metadata, ...interrupted } },
  };
}

export function commandMetadata(input: Json | undefined): {
  readonly command: string;
  readonly cwd?: string;
} {
  const action = objectOf(input);
  const words = listOf(action.commands).length > 0 ? listOf(action.commands) : listOf(action.command);
  const joint = listOf(action.commands).length > 0 ? "\n" : " ";
  const command = words.filter((word) => typeof word === "string").join(joint);
  return {
    command: command === "" ? (textOf(action.code) ?? "") : command,
    ...given({ cwd: wordsOf(action.working_directory) }),
  };
}

function localShellOutcome(item: JsonObject, input: Json | undefined): Outcome {
  const said = textOf(item.output) ?? "";
  const parsed = objectOf(parseJson(said, bounds.inputDepth));
  const exitCode = numberOf(objectOf(parsed.metadata).exit_code) ?? numberOf(parsed.exit_code);
  const text = textOf(parsed.output) ?? textOf(parsed.stdout) ?? said;
  const failed = item.status === "incomplete" || (exitCode !== undefined && exitCode !== 0);
  const metadata = { ...commandMetadata(input), ...given({ exitCode, stderr: wordsOf(parsed.stderr) }) };
  return { failed, shortResult: rowOf(text), result: { kind: "command", text, metadata } };
}

/** An apply_patch call names one file and the body of its diff. */
function patched(item: JsonObject, input: Json | undefined, failed: boolean): Omit<Outcome, "failed"> {
  const said = wordsOf(item.output);
  const changes = operationChanges(objectOf(input));
  if (failed || changes.length === 0) return { error: said, ...plainResult(said ?? "", item.output) };
  const text = joinDiffs(changes.map((change) => change.diff));
  const metadata = { changes };
  return {
    shortResult: said ?? plural(changes.length, "file"),
    result: { kind: "file_change", text, metadata },
  };
}

function operationChanges(operation: JsonObject): ReturnType<typeof patchChanges> {
  const path = wordsOf(operation.path);
  if (path === undefined) return [];
  const diff = textOf(operation.diff) ?? "";
  if (operation.type === "delete_file") return [{ path, kind: "delete" }];
  const header = operation.type === "create_file" ? "Add" : "Update";
  const changes = patchChanges(`*** ${header} File: ${path}\n${diff}`);
  if (changes[0]?.diff !== undefined || operation.type !== "create_file") return changes;
  return [{ path, kind: "add", diff: unifiedDiff(path, { before: "", after: diff }, "add") }];
}

function sources(action: JsonObject, item: JsonObject): Omit<Outcome, "failed"> {
  const found = [...listOf(action.sources), ...listOf(item.results)].filter(isObject);
  if (found.length === 0) return {};
  const citations = found.map((source) =>
    given({ url: textOf(source.url) ?? "", title: wordsOf(source.title) ?? wordsOf(source.name) }),
  );
  const text = citations.map((one) => [one.title, one.url].filter((part) => part).join("\n")).join("\n\n");
  const metadata = { citations, result: found };
  return { shortResult: plural(found.length, "result"), result: { kind: "tool_result", text, metadata } };
}

function files(results: readonly Json[]): Omit<Outcome, "failed"> {
  const found = results.filter(isObject);
  if (found.length === 0) return {};
  const text = found
    .map((one) => `${textOf(one.filename) ?? textOf(one.file_id) ?? "?"}\n${textOf(one.text) ?? ""}`)
    .join("\n\n");
  return {
    shortResult: plural(found.length, "result"),
    result: { kind: "tool_result", text, metadata: { result: found } },
  };
}

function logs(item: JsonObject, input: Json | undefined): Omit<Outcome, "failed"> {
  const outputs = listOf(item.outputs).filter(isObject);
  const text = outputs.map((output) => textOf(output.logs) ?? "").join("");
  if (outputs.length === 0) return {};
  return {
    shortResult: rowOf(text),
    result: { kind: "command", text, metadata: { ...commandMetadata(input) } },
  };
}

function plainResult(text: string, native: Json | undefined): Omit<Outcome, "failed"> {
  const images = [native ?? null, ...listOf(native)].map(imageOf).filter((image) => image !== undefined);
  const isKept = images.length === 0 && typeof native === "object" && native !== null;
  const metadata = { ...(isKept ? { result: native } : {}), ...(images.length > 0 ? { images } : {}) };
  const shortResult = rowOf(text) ?? (images.length > 0 ? plural(images.length, "image") : undefined);
  return { shortResult, result: { kind: "tool_result", text, metadata } };
}

function partsText(output: Json | undefined): string {
  if (typeof output === "string") return output;
  return listOf(output)
    .filter((part) => imageOf(part) === undefined)
    .map((part) => textOf(objectOf(part).text) ?? `[${textOf(objectOf(part).type) ?? "part"}]`)
    .join("\n");
}

function askOf(item: JsonObject, id: string): Ask {
  const server = wordsOf(item.server_label);
  return {
    id,
    kind: "permission",
    state: "asked",
    title: `${server ?? "MCP"}: ${wordsOf(item.name) ?? "tool"}`,
    subject: { type: "tool", tool: wordsOf(item.name) ?? "tool", ...given({ server }) },
  };
}

function jsonText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Commands stand first, so that what streamed is a beginning of what is whole. */
function commandsFirst(action: Json | undefined): Json | undefined {
  if (!isObject(action)) return undefined;
  const { commands, ...others } = action;
  if (listOf(commands).length === 0) return undefined;
  return { commands: commands as Json, ...others };
}

function pick(item: JsonObject, ...names: readonly string[]): JsonObject {
  const picked = names.filter((name) => item[name] !== undefined && item[name] !== null);
  return Object.fromEntries(picked.map((name) => [name, item[name] as Json]));
}

/** The input of a tool that nobody has told us about: all that is neither its name nor its result. */
function rest(item: JsonObject): JsonObject {
  const others = Object.entries(item).filter(([name]) => !NOT_INPUT.has(name));
  return Object.fromEntries(others);
}

const NOT_INPUT: ReadonlySet<string> = new Set(["id", "type", "status", "call_id", "error", ...RESULTS]);
