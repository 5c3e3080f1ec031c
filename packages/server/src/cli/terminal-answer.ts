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
  allowingAnswers,
  answerLabel,
  furtherAnswers,
} from "@blockyard/kernel";
import { visible, visibleName } from "../processes/visible.ts";
import { shortWords } from "./short-words.ts";

type Said = NonNullable<AskAnswer["questions"]>[string];

export function questionText({ question, options, multiple, freeText }: AskQuestion): string {
  const rows = options.map(({ label, description }, i) => {
    const about = description === undefined ? "" : `  ${shortWords(visibleName(description))}`;
    return `  ${i + 1}  ${shortWords(visibleName(label))}${about}`;
  });
  const numbers = multiple ? "numbers, such as 1,3" : "a number";
  const how = options.length === 0 ? "" : ` (${numbers}${freeText === true ? ", or your own words" : ""})`;
  return [`${visible(question)}${how}`, ...rows].join("\n");
}

/** The choice of a line; a string says why it chooses nothing. */
export function choiceIn({ options, multiple, freeText }: AskQuestion, line: string): Said | string {
  const said = line.trim();
  if (said === "") return { chosen: [], skipped: true };
  const numbers = /^\d+(\s*,\s*\d+)*$/.test(said) ? said.split(",").map(Number) : [];
  const labels = numbers.map((number) => options[number - 1]?.label);
  if (numbers.length > 0 && labels.every((label) => label !== undefined)) {
    if (!multiple && labels.length > 1) return "Choose one.";
    return { chosen: [...new Set(labels as string[])] };
  }
  // A number that is no option's is a slip, and no answer in words.
  if (options.length === 0 || (freeText === true && numbers.length === 0)) return { chosen: [], text: said };
  return `Type a number from 1 to ${options.length}${freeText === true ? ", or your own words" : ""}.`;
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

/**
 * The possible answers, below the request: a row each, with the numbers of the page. A standing denial has a number
 * only here.
 */
export function answersText(ask: Ask): string {
  const isPlan = ask.kind === "plan";
  const rows = numbered(ask).map(({ allow, suggestion }, i) => {
    const plain = isPlan ? "Approve" : "Allow once";
    return [
      allow,
      `\n  ${i + 1}  ${suggestion === undefined ? plain : answerLabel(suggestion, visibleName)}`,
    ] as const;
  });
  const text = (isAllow: boolean) => rows.map(([allow, row]) => (allow === isAllow ? row : "")).join("");
  return `${text(true)}\n  0  ${isPlan ? "Keep planning" : "Deny"}${text(false)}`;
}

interface Answer {
  readonly allow: boolean;
  /** Undefined: a plain yes or no. */
  readonly suggestion: AskSuggestion | undefined;
}

function numbered(ask: Ask): readonly Answer[] {
  return [
    ...allowingAnswers(ask).map((suggestion) => ({ allow: true, suggestion })),
    ...furtherAnswers(ask).flatMap((suggestion) => (suggestion.deny ? [{ allow: false, suggestion }] : [])),
  ];
}

const NUMBER = /^\d{1,3}$/;

/** A number that nothing here has: no reason to deny anything. */
export function isSlip(ask: Ask, line: string): boolean {
  return NUMBER.test(line.trim()) && answerIn(ask, line) === undefined;
}

/** The answer whose number was typed. 0 denies, as on the page. */
export function answerIn(ask: Ask, line: string): Answer | undefined {
  if (!NUMBER.test(line.trim())) return undefined;
  return Number(line) === 0 ? { allow: false, suggestion: undefined } : numbered(ask)[Number(line) - 1];
}
