/**
 * A text with everything visible: invisible and misleading characters are spelt out. So a person who is asked to
 * confirm a command sees every character of it, and two different commands never look the same.
 *
 * `⟨U+202E⟩` stands for one such character, `⟨U+0020 ×4000⟩` for a run that pushes later text out of sight. Line breaks
 * stay, because commands have lines; the bracket itself is spelt out if it occurs.
 */
import { spellAlike } from "@blockyard/kernel";
import { RUN_CHARS } from "./limits.ts";

/** Controls, format characters, what has no meaning yet, separators, what is drawn as nothing, and our own brackets. */
const HIDDEN = /\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point}|[⟨⟩]/u;
const PLAIN = new Set([" ", "\n"]);
const RUNS = / {17,}|\n{17,}|./gsu;

export function visible(text: string): string {
  // A letter that only looks Latin is spelt out last: our own brackets are, too.
  const plain = text.replace(RUNS, (part) => {
    if (part.length > RUN_CHARS) return spelt(part[0] as string, part.length);
    return !PLAIN.has(part) && HIDDEN.test(part) ? spelt(part) : part;
  });
  return spellAlike(plain, (letter) => spelt(letter));
}

/** The same of a name, which has no lines: one that is made of several could pass for several names. */
export function visibleName(name: string): string {
  return visible(name).replaceAll("\n", spelt("\n"));
}

function spelt(character: string, count = 1): string {
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
  return count === 1 ? `⟨U+${code}⟩` : `⟨U+${code} ×${count}⟩`;
}
