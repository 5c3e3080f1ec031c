/**
 * An answer as Claude Code reads it: the `response` of a control_response.
 *
 * Questions go back with the whole input, each answer under the exact words of its question: keyed otherwise, the model is told that
 * nobody answered. Of a permission's suggestions exactly the chosen one is sent, since the CLI applies every entry.
 */

import {
  type AskAnswer,
  type AskQuestion,
  type Json,
  type JsonObject,
  jsonText,
  ownValue,
} from "@blockyard/kernel";
import { joinedLabels } from "@blockyard/providers";
import type { Answer } from "../../run.ts";

export function claudeResponse(answer: Answer): JsonObject {
  const { allow, shown, input, message } = answer;
  if (shown.kind === "elicitation")
    return allow
      ? { action: "accept", content: (answer.answer?.content ?? {}) as JsonObject }
      : { action: "decline" };
  if (!allow)
    return { behavior: "deny", message: shown.kind === "plan" ? (answer.said ?? KEEP_PLANNING) : message };
  const taken = takenBy(answer);
  const rules = taken === undefined ? {} : { updatedPermissions: [taken] };
  return { behavior: "allow", updatedInput: inputAfter(answer, objectOf(input)), ...rules };
}

/** What the owner has chosen besides yes, as the CLI suggested it. */
function takenBy({ shown, answer }: Answer): Json | undefined {
  return shown.suggestions?.find(({ id }) => id === answer?.suggestion)?.native;
}

const SETTINGS: Readonly<Record<string, string>> = {
  localSettings: ".claude/settings.local.json",
  projectSettings: ".claude/settings.json",
};

/** The rules that it will write into its settings of the folder for this answer, and where; undefined if it writes none. */
export function keptRules(answer: Answer): { file: string; rules: readonly string[] } | undefined {
  const { type, behavior, destination, rules } = objectOf(
    (answer.allow ? takenBy(answer) : undefined) ?? null,
  );
  const file = typeof destination === "string" ? SETTINGS[destination] : undefined;
  if (file === undefined || type !== "addRules" || behavior !== "allow" || !Array.isArray(rules))
    return undefined;
  return { file, rules: rules.map((rule) => ruleText(objectOf(rule))) };
}

function ruleText({ toolName, ruleContent }: JsonObject): string {
  return typeof ruleContent === "string"
    ? `${jsonText(toolName ?? null)}(${ruleContent})`
    : jsonText(toolName);
}

const KEEP_PLANNING = "The user wants you to keep planning. Revise the plan, or ask for missing details.";

function inputAfter({ shown, answer, plan }: Answer, input: JsonObject): JsonObject {
  if (shown.kind === "question" && answer !== undefined)
    return { ...input, ...answersOf(shown.questions ?? [], answer) };
  const isEdited = shown.kind === "plan" && plan !== undefined && plan !== input["plan"];
  return isEdited ? { ...input, plan } : input;
}

function answersOf(asked: readonly AskQuestion[], { questions = {}, text }: AskAnswer): JsonObject {
  const answers: Record<string, Json> = {};
  const annotations: Record<string, Json> = {};
  for (const { id, question, options } of asked) {
    const said = ownValue(questions, id);
    if (said === undefined) continue;
    if (said.skipped === true) {
      annotations[question] = { unanswered: "skipped" };
      continue;
    }
    const own = said.text === undefined || said.text === "" ? [] : [said.text];
    if (said.chosen.length + own.length > 0) answers[question] = joined(said.chosen, own);
    const preview = options.find(({ label }) => label === said.chosen[0])?.preview;
    const notes = said.notes === undefined || said.notes === "" ? {} : { notes: said.notes };
    const shown = preview === undefined || said.chosen.length !== 1 ? {} : { preview };
    if (Object.keys({ ...notes, ...shown }).length > 0) annotations[question] = { ...notes, ...shown };
  }
  return {
    answers,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(text === undefined || text === "" ? {} : { response: text }),
  };
}

/** A single option, or free text, stays as it is; several are joined so that they can be split again. */
function joined(chosen: readonly string[], own: readonly string[]): string {
  const all = [...chosen, ...own];
  return all.length === 1 ? (all[0] as string) : joinedLabels(all);
}

function objectOf(value: Json): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
