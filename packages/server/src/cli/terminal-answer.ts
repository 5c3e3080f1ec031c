/**
 * Questions of an agent in a terminal: how they read, and what a typed line means. What can be chosen stands in a line each, which no label
 * can end: it could pass for a row with another number. Numbers choose options, words are an own answer,
 * an empty line skips the question.
 */

import {
  type Ask,
  type AskAnswer,
  type AskQuestion,
  type AskSuggestion,
  answerLabel,
  furtherAnswers,
} from "@blockyard/kernel";
import { visible, visibleName } from "../processes/visible.ts";

type Said = NonNullable<AskAnswer["questions"]>[string];

export function questionText({ question, options, multiple }: AskQuestion): string {
  const rows = options.map(({ label, description }, i) => {
    const about = description === undefined ? "" : `  ${visibleName(description)}`;
    return `  ${i + 1}  ${visibleName(label)}${about}`;
  });
  const how = options.length === 0 ? "" : multiple ? " (numbers, such as 1,3)" : " (a number)";
  return [`${visible(question)}${how}`, ...rows].join("\n");
}

/** What a line chooses; a string says why it chooses nothing. */
export function choiceIn({ options, multiple, freeText }: AskQuestion, line: string): Said | string {
  const said = line.trim();
  if (said === "") return { chosen: [], skipped: true };
  const numbers = /^\d+(\s*,\s*\d+)*$/.test(said) ? said.split(",").map(Number) : [];
  const labels = numbers.map((number) => options[number - 1]?.label);
  if (numbers.length > 0 && labels.every((label) => label !== undefined)) {
    if (!multiple && labels.length > 1) return "Choose one.";
    return { chosen: [...new Set(labels as string[])] };
  }
  if (freeText === true || options.length === 0) return { chosen: [], text: said };
  return `Type a number from 1 to ${options.length}.`;
}

/** Asks one question after the other. Undefined: the turn is being stopped, and the ask with it. */
export async function answersTo(
  { questions = [] }: Ask,
  type: (text: string) => Promise<string | undefined>,
): Promise<AskAnswer | undefined> {
  const answers: Record<string, Said> = {};
  for (const question of questions) {
    let choice: Said | string = "";
    for (let why = ""; typeof choice === "string"; why = `${choice}\n`) {
      const line = await type(`${why}${questionText(question)}\n> `);
      if (line === undefined) return undefined;
      choice = choiceIn(question, line);
    }
    answers[question.id] = choice;
  }
  return { questions: answers };
}

/** What can be answered for good, below what is asked for: a row each. */
export function suggestionText(ask: Ask): string {
  return furtherAnswers(ask)
    .map((each, i) => `\n  ${i + 1}  ${answerLabel(each, visibleName)}`)
    .join("");
}

/** The suggestion whose number was typed. */
export function suggestionIn(ask: Ask, line: string): AskSuggestion | undefined {
  return /^\d{1,3}$/.test(line.trim()) ? furtherAnswers(ask)[Number(line) - 1] : undefined;
}
