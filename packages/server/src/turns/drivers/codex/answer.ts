/**
 * The owner's answer as Codex reads it: the `result` of the request by which it asked.
 *
 * Exactly what was chosen is sent. A rule for all projects is written only where that suggestion was taken by its id.
 */

import { type AskAnswer, type AskQuestion, type Json, type JsonObject, ownValue } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";

export function codexAnswer(method: string, params: JsonObject, answer: Answer): JsonObject {
  const native = answer.shown.suggestions?.find(({ id }) => id === answer.answer?.suggestion)?.native;
  switch (method) {
    case "item/permissions/requestApproval":
      if (!answer.allow) return { permissions: {}, scope: "turn" };
      return isObject(native) ? native : { permissions: params["permissions"] ?? {}, scope: "turn" };
    case "item/tool/requestUserInput":
      return { answers: answer.allow ? answersOf(answer.shown.questions ?? [], answer.answer ?? {}) : {} };
    case "mcpServer/elicitation/request":
      return formAnswer(answer, native);
    default:
      return { decision: native ?? (answer.allow ? "accept" : "decline") };
  }
}

/** Each question's labels, in the order of the options, followed by free text. */
function answersOf(asked: readonly AskQuestion[], { questions = {}, text }: AskAnswer): JsonObject {
  const answers: Record<string, Json> = {};
  for (const { id } of asked) {
    const said = ownValue(questions, id);
    if (said === undefined || said.skipped === true) continue;
    const own = [said.text, said.notes].filter((words) => words !== undefined && words !== "") as string[];
    answers[id] = { answers: [...said.chosen, ...own] };
  }
  const [first] = asked;
  // Free text instead of answers becomes the answer to the first question: the protocol has no other place.
  if (text !== undefined && text !== "" && first !== undefined && ownValue(answers, first.id) === undefined)
    answers[first.id] = { answers: [text] };
  return answers;
}

function formAnswer({ allow, shown, answer }: Answer, native: Json | undefined): JsonObject {
  if (!allow) return { action: "decline", content: null, _meta: null };
  const content = shown.kind === "elicitation" ? ((answer?.content ?? {}) as JsonObject) : {};
  return { action: "accept", content, _meta: isObject(native) ? native : null };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
