/**
 * The message that an agent gets if its request is answered after a server restart: the request was cut off, so the
 * answer is a message. It states exactly what was asked and answered, and what to do now.
 */

import { type Ask, type AskQuestion, type JsonObject, ownValue } from "@blockyard/kernel";
import type { Mode } from "./mode.ts";
import type { Given } from "./write-answer.ts";

export function lateText(ask: Ask, given: Given, plan: string | undefined): string {
  return `${BEFORE} ${saidOf(ask, given, plan)}`;
}

/** The subject of an ask, to compare with a request after the restart: two tools may get the same input. */
export function deedOf({ subject, input }: Pick<Ask, "subject" | "input">): string {
  return JSON.stringify([subject ?? null, input ?? null]);
}

/** The mode in which an approved plan is executed: the one approved with it. Undefined: the conversation's. */
export function lateMode({ kind, suggestions = [] }: Ask, { allow, answer }: Given): Mode | undefined {
  if (kind !== "plan" || !allow) return undefined;
  const taken = suggestions.find(({ id }) => id === answer?.suggestion)?.native as
    | JsonObject
    | null
    | undefined;
  return taken?.["mode"] === "acceptEdits" ? "edits" : "ask";
}

/** An answer that contains the approved plan, if that is not the one that the agent wrote. */
export function withPlan({ input }: Ask, given: Given, plan: string | undefined): Given {
  const proposed = (input as JsonObject | null | undefined)?.["plan"];
  return plan === undefined || plan === proposed
    ? given
    : { ...given, answer: { ...given.answer, text: plan } };
}

const BEFORE = "You were cut off by a restart while you waited for the user, who has answered now.";

function saidOf(ask: Ask, { allow, message, answer }: Given, plan: string | undefined): string {
  const why = message?.trim() ? ` The user says: ${message.trim()}` : "";
  switch (ask.kind) {
    case "plan":
      if (!allow) return `The plan is not approved: keep planning.${why}`;
      return `The plan is approved. Carry it out:\n\n${plan ?? ""}`.trimEnd();
    case "question": {
      if (!allow) return `Your questions were not answered.${why}`;
      const lines = (ask.questions ?? []).map((question) =>
        answerLine(question, ownValue(answer?.questions, question.id)),
      );
      const said = answer?.text?.trim() ? [answer.text.trim()] : [];
      return [`The answers to your questions:`, ...lines, ...said].join("\n");
    }
    case "elicitation":
      if (!allow) return `The form was declined.${why}`;
      return `The form was filled in: ${JSON.stringify(answer?.content ?? {})}`;
    case "permission": {
      const what = subjectWords(ask);
      if (!allow) return `The user refused ${what}: it was not run.${why}`;
      return `The user allows ${what}. It was not run: do it now.`;
    }
  }
}

function subjectWords({ subject, title }: Ask): string {
  if (subject?.type === "command") return `\`${subject.command}\``;
  const paths = subject?.type === "diff" ? (subject.paths ?? []) : [];
  if (paths.length > 0) return `your edit of ${paths.join(", ")}`;
  return title ?? "what you asked for";
}

type Said = NonNullable<NonNullable<Given["answer"]>["questions"]>[string];

function answerLine({ question }: AskQuestion, said: Said | undefined): string {
  const words = said === undefined ? [] : [...said.chosen, said.text ?? ""].filter((each) => each !== "");
  const notes = said?.notes === undefined || said.notes === "" ? "" : ` (${said.notes})`;
  return `- ${JSON.stringify(question)}: ${words.length === 0 ? "not answered" : words.map((each) => JSON.stringify(each)).join(", ")}${notes}`;
}
