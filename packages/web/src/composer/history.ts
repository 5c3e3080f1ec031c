/**
 * What was asked before, newest last: the prompts of this browser, over reloads. Arrow up in an empty field goes back through them.
 */
import { HISTORY_PROMPT_CHARS, HISTORY_PROMPTS } from "./limits.ts";

const KEY = "blockyard.prompts";

let past: readonly string[] | undefined;

export function remember(prompt: string): void {
  const before = prompts().filter((each) => each !== prompt);
  past = [...before, prompt].slice(-HISTORY_PROMPTS);
  try {
    localStorage.setItem(KEY, JSON.stringify(past.filter(({ length }) => length <= HISTORY_PROMPT_CHARS)));
  } catch {
    // A browser that stores nothing still works; it only forgets.
  }
}

/** The one asked `back` prompts ago, 1 being the last. */
export function recalled(back: number): string | undefined {
  return back < 1 ? undefined : prompts().at(-back);
}

export function promptCount(): number {
  return prompts().length;
}

function prompts(): readonly string[] {
  past ??= load();
  return past;
}

function load(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}
