/**
 * Text for people who must see what is really there: on the page and in exports alike. It changes nothing that is stored.
 */

/**
 * A text exactly as it is, with what cannot be seen made visible: controls, characters that reorder or hide others, spaces that are
 * none of the usual ones. For everything that somebody is asked to allow: two different texts never look the same.
 */
export function exactText(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === "\n" || character === "\t" ? character : spelt(character),
  );
}

/** The same of a name, which has no lines. */
export function exactName(name: string): string {
  return name.replace(HIDDEN, spelt);
}

function spelt(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}

/**
 * Controls and format characters, what has no meaning or is drawn as nothing, every space but the usual one, and what would look like
 * one of these spelt out. A sign that makes a picture of the character before it stays.
 */
const HIDDEN =
  /\p{C}|[^\P{Z} ]|(?!(?<=\p{Extended_Pictographic})\ufe0f)\p{Default_Ignorable_Code_Point}|\u2800|\\(?=u\{)/gu;
