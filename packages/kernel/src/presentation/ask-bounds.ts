/**
 * How much of an agent's ask is put before its owner at once, on the page and in a terminal. What is beyond is not shown, cannot be
 * chosen, and is counted where the owner reads. A long text is shown from its beginning, with a way to see all of it.
 */

import { type Ask, type AskSuggestion, furtherAnswers } from "../model/ask.ts";
import { leftOfForm } from "./form-fields.ts";
import { ASK_BOUNDS } from "./limits.ts";

/** An ask as it is shown. */
export function shownAsk(ask: Ask): Ask {
  const { questions, suggestions } = ask;
  return {
    ...ask,
    ...(questions === undefined
      ? {}
      : {
          questions: questions
            .slice(0, ASK_BOUNDS.questions)
            .map((each) => ({ ...each, options: each.options.slice(0, ASK_BOUNDS.options) })),
        }),
    ...(suggestions === undefined ? {} : { suggestions: shownSuggestions(ask) }),
  };
}

/** Those that mean plain yes and no are not shown as such, and stay. */
function shownSuggestions(ask: Ask): readonly AskSuggestion[] {
  const further = furtherAnswers(ask);
  const shown = new Set(
    further
      .filter(({ label }) => label.length <= ASK_BOUNDS.suggestionChars)
      .slice(0, ASK_BOUNDS.suggestions),
  );
  const isNamed = new Set(further);
  return (ask.suggestions ?? []).filter((each) => shown.has(each) || !isNamed.has(each));
}

/** What is left out, in words; empty if nothing is. */
export function leftOfAsk(ask: Ask): string {
  const shown = shownAsk(ask);
  const { questions = [], suggestions = [] } = ask;
  const kept = shown.questions ?? [];
  const form = leftOfForm(ask.form?.schema);
  const options = kept.reduce(
    (sum, each, i) => sum + (questions[i]?.options.length ?? 0) - each.options.length,
    0,
  );
  const parts = [
    counted(questions.length - kept.length, "question"),
    counted(form.fields, "field"),
    counted(options + form.options, "option"),
    counted(suggestions.length - (shown.suggestions ?? []).length, "answer"),
  ].filter((part) => part !== "");
  return parts.length === 0
    ? ""
    : `Not shown, because the agent sent too many or too long ones: ${parts.join(", ")}.`;
}

function counted(count: number, noun: string): string {
  return count === 0 ? "" : `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
