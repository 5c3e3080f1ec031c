/**
 * User lines: tool results, replayed prompts, the prompts of sub-agents, and what the CLI itself writes in the user's
 * name. Only text that a person typed, or that is an agent's prompt, is shown as the user's; the rest are notices.
 */

import type { JsonObject } from "@blockyard/kernel";
import { listOf, objectOf, textOf, timeOf, wholeOf, wordsOf } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import { addTask } from "./background.ts";
import { addNotice } from "./notice.ts";
import { imageOf, withoutReminders } from "./outcome.ts";
import { isRepeatedResult, metaOf, toolResult } from "./result.ts";
import { lineKey, MAIN, type Out, PROVIDER, type Scope, type State, scopeOf } from "./state.ts";
import { withoutTags } from "./system.ts";

export function userLine(state: State, out: Out, line: JsonObject): void {
  state.lastMessage = undefined;
  const content = objectOf(line.message).content;
  const scope = scopeOf(state, line);
  if (typeof content === "string") return userText(state, out, line, scope, content, "");
  const blocks = listOf(content).map(objectOf);
  const results = blocks.filter((block) => block.type === "tool_result").length;
  for (const [i, block] of blocks.entries()) {
    const part = i === 0 ? "" : `/${i}`;
    if (block.type === "tool_result") userResult(state, out, line, scope, block, results === 1);
    else if (block.type === "text") userText(state, out, line, scope, textOf(block.text) ?? "", part);
    else if (block.type === "image") userImage(state, out, line, scope, block, part);
    else if (block.type === "document") userDocument(state, out, line, scope, block, part);
    else {
      const key = lineKey(state, line.uuid, part);
      const type = `user/${textOf(block.type) ?? "(no type)"}`;
      out.push(...unknownEvent({ key, provider: PROVIDER, parent: scope.parent }, block, type));
    }
  }
}

function userResult(
  state: State,
  out: Out,
  line: JsonObject,
  scope: Scope,
  block: JsonObject,
  isOnly: boolean,
): void {
  const id = textOf(block.tool_use_id) ?? "";
  // A replayed result of a call that has ended says nothing new.
  const call = state.calls.get(id);
  if (line.isReplay === true && call?.isEnded === true) return;
  if (isRepeatedResult(call, block)) return;
  toolResult(state, out, {
    block,
    payload: isOnly ? line.tool_use_result : undefined,
    meta: metaOf(line, id),
    scope,
    at: timeOf(line.timestamp),
  });
}

const CONTINUED = "This session is being continued from a previous conversation";

function userText(state: State, out: Out, line: JsonObject, scope: Scope, text: string, part: string): void {
  const said = text.trim();
  if (said === "" || isReminder(said)) return;
  if (said.startsWith("<")) {
    if (taggedText(state, out, line, said, part)) return;
  }
  const notice = noticeOf(line, said);
  if (notice !== undefined) {
    if (notice === "interrupted" && scope === MAIN && state.lastTurn !== undefined)
      state.lastTurn.isInterrupted = true;
    // The CLI writes this one in brackets, to mark it among what people say; as a notice it is marked already.
    const told = notice === "interrupted" ? said.replace(/^\[(.*)\]$/, "$1") : text;
    return addNotice(state, out, line, { notice, text: told, parent: scope.parent }, part);
  }
  addUserBlock(state, out, line, scope, text, part);
}

/** Words for the model alone. */
function isReminder(said: string): boolean {
  return said.startsWith("<system-reminder>") && withoutReminders(said) === "";
}

function noticeOf(line: JsonObject, said: string): string | undefined {
  if (said.startsWith("[Request interrupted by user")) return "interrupted";
  if (line.isCompactSummary === true || said.startsWith(CONTINUED)) return "compaction";
  return line.isSynthetic === true ? "synthetic" : undefined;
}

function addUserBlock(
  state: State,
  out: Out,
  line: JsonObject,
  scope: Scope,
  text: string,
  part: string,
): void {
  const key = lineKey(state, line.uuid, part);
  const at = timeOf(line.timestamp);
  out.push({
    type: "block-start",
    key,
    ...(scope.parent === undefined ? {} : { parent: scope.parent }),
    kind: "text",
    role: "user",
    metadata: scope.label === undefined ? {} : { label: scope.label },
    text,
    ...(at === undefined ? {} : { at }),
  });
  out.push({ type: "block-end", key, status: "done" });
}

/** Text in the tags that the CLI uses for what it keeps in the user's place. False for any other tag. */
function taggedText(state: State, out: Out, line: JsonObject, said: string, part: string): boolean {
  const tag = /^<([a-z-]+)>/.exec(said)?.[1];
  switch (tag) {
    case "local-command-caveat":
      return true;
    case "local-command-stdout":
    case "local-command-stderr":
    case "bash-stdout":
    case "bash-stderr":
      addNotice(state, out, line, { notice: "local_command", text: shellText(said) }, part);
      return true;
    case "command-name":
    case "command-message":
      addUserBlock(state, out, line, { parent: undefined, label: undefined }, slashCommand(said), part);
      return true;
    case "bash-input":
      addUserBlock(
        state,
        out,
        line,
        { parent: undefined, label: undefined },
        `! ${inTag(said, "bash-input") ?? said}`,
        part,
      );
      return true;
    case "task-notification":
    case "bash-notification":
    case "agent-notification":
      addTask(state, out, line, {
        summary: taskSummary(said),
        report: inTag(said, "result"),
        toolUses: wholeOf(inTag(said, "tool_uses")),
        status: inTag(said, "status"),
        call:
          state.calls.get(inTag(said, "tool-use-id") ?? "") ??
          state.tasks.get(inTag(said, "task-id") ?? inTag(said, "shell-id") ?? ""),
        outputFile: inTag(said, "output-file"),
        taskId: inTag(said, "task-id") ?? inTag(said, "shell-id"),
      });
      return true;
    default:
      return false;
  }
}

/** `<bash-stdout>…</bash-stdout><bash-stderr>…</bash-stderr>`, or one of its kind alone. */
function shellText(said: string): string {
  const stdout = inTag(said, "bash-stdout");
  if (stdout === undefined) return withoutTags(said);
  return [stdout, inTag(said, "bash-stderr") ?? ""].filter((text) => text !== "").join("\n");
}

function slashCommand(said: string): string {
  const name = inTag(said, "command-name") ?? inTag(said, "command-message") ?? "";
  const args = inTag(said, "command-args") ?? "";
  const command = name.startsWith("/") ? name : `/${name}`;
  return args === "" ? command : `${command} ${args}`;
}

function taskSummary(said: string): string {
  const summary = inTag(said, "summary") ?? "Task";
  const result = inTag(said, "result") ?? inTag(said, "event");
  return result === undefined ? summary : `${summary}\n\n${result}`;
}

function inTag(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return undefined;
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return wordsOf(text.slice(from, end < 0 ? undefined : end).trim());
}

function userImage(
  state: State,
  out: Out,
  line: JsonObject,
  scope: Scope,
  block: JsonObject,
  part: string,
): void {
  const image = imageOf(block);
  const url = wordsOf(objectOf(block.source).url);
  const key = lineKey(state, line.uuid, part);
  out.push({
    type: "block-start",
    key,
    ...(scope.parent === undefined ? {} : { parent: scope.parent }),
    kind: "image",
    role: "user",
    metadata: { ...image, ...(url === undefined ? {} : { url }) },
  });
  out.push({ type: "block-end", key, status: "done" });
}

/** A document in a prompt: its text where it has one, otherwise its name and type. */
function userDocument(
  state: State,
  out: Out,
  line: JsonObject,
  scope: Scope,
  block: JsonObject,
  part: string,
): void {
  const source = objectOf(block.source);
  const name = wordsOf(block.title) ?? wordsOf(source.media_type) ?? "document";
  const text = source.type === "text" ? (textOf(source.data) ?? "") : `[document: ${name}]`;
  addUserBlock(state, out, line, scope, text, part);
}
