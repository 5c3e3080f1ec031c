/**
 * Text for people who must see what is really there: on the page and in exports alike. It changes nothing that is stored.
 */

/**
 * A text exactly as it is, with what cannot be seen made visible: controls, and characters that reorder or hide others.
 * For everything that somebody is asked to allow.
 */
export function exactText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.codePointAt(0) as number;
    return `\\u{${code.toString(16)}}`;
  });
}

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
