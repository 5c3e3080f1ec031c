/**
 * The owner's answer to an ask, in the form that the agent expects. The option is found by the owner's choice, then by
 * its kind; ids are the agent's own. An approval never picks a question's option, and a question is never answered by
 * an approval alone.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Answer } from "../../run.ts";

const CANCELLED: JsonObject = { outcome: { outcome: "cancelled" } };

type Given = Pick<Answer, "allow" | "shown" | "answer">;

/** The result of `session/request_permission` or `elicitation/create`. */
export function acpResponse(given: Given): Json {
  if (given.shown.kind === "elicitation") return formResponse(given);
  const optionId = optionOf(given);
  return optionId === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId } };
}

/** What ends an ask that nobody will answer. */
export function cancelledResponse(method: string): JsonObject {
  return method === "elicitation/create" ? { action: "cancel" } : CANCELLED;
}

function formResponse({ allow, answer }: Given): Json {
  return allow ? { action: "accept", content: { ...answer?.content } } : { action: "decline" };
}

function optionOf({ allow, shown, answer }: Given): string | undefined {
  const options = shown.suggestions ?? [];
  if (answer?.suggestion !== undefined) return answer.suggestion;
  const kindOf = ({ native }: { native?: Json | undefined }) => (native as JsonObject | undefined)?.["kind"];
  const ofKind = (kind: string) => options.find((option) => kindOf(option) === kind)?.id;
  if (!allow) return ofKind("reject_once") ?? ofKind("reject_always");
  if (shown.kind === "permission") return ofKind("allow_once");
  if (shown.kind !== "question") return ofKind("allow_once") ?? ofKind("allow_always");
  const chosen = Object.values(answer?.questions ?? {}).flatMap((each) => each.chosen);
  const named = options.find(({ label, deny }) => deny !== true && chosen.includes(label))?.id;
  // One option that only submits: the agent has its questions elsewhere.
  const leave = options.filter(({ deny }) => deny !== true);
  return named ?? (leave.length === 1 ? leave[0]?.id : undefined);
}
