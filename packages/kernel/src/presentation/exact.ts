/**
 * Text for people who must see exactly what is there: on the page and in exports alike. It changes nothing that is
 * stored.
 */

/**
 * A text exactly as it is, with invisible parts made visible: control characters, characters that reorder or hide
 * others, unusual spaces, letters of another script that look Latin, empty lines that push text out of sight. For
 * everything that somebody is asked to allow: two different texts never look the same.
 */
export function exactText(text: string): string {
  return plainLetters(text)
    .replace(HIDDEN, (character) => (character === "\n" || character === "\t" ? character : spelt(character)))
    .replace(EMPTY_LINES, (lines) => `\n\\u{a} ×${lines.length - 2}\n`);
}

/** The same for a name, which has no lines. */
export function exactName(name: string): string {
  return plainLetters(name).replace(HIDDEN, spelt);
}

/** More than are ever written on purpose. */
const EMPTY_LINES = /\n{17,}/g;

/**
 * Words in Latin letters, with each letter of another script spelled out: `раypal` begins with two Cyrillic ones. A
 * word with letters that no Latin one resembles is clearly in that script.
 */
export function spellAlike(text: string, spell: (letter: string) => string): string {
  if (!ALIKE.test(text)) return text;
  return text.replace(WORD, (word) => {
    const foreign = word.replace(/[^\p{L}]|\p{Script=Latin}/gu, "");
    const isLatin = foreign.length < word.replace(/[^\p{L}]/gu, "").length;
    return isLatin && ONLY_ALIKE.test(foreign) ? word.replace(EVERY_ALIKE, spell) : word;
  });
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
/** Letters of Cyrillic, Greek, Armenian and others that are drawn like Latin ones. */
const ALIKES =
  "аеорсухіїјѕԁԛԝһӏвгкмнптьАВЕЗІЈКМНОРСТУХЅԌԚԜҮҺӀοναγρυκιτΑΒΕΖΗΙΚΜΝΟΡΤΥΧհոսցօքյզԼՍՏՕᎪᎬᎳᎻᏀᏃᏚᏞᏢᏴꓐꓑꓒꓓꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓤꓥꓦꓧꓨꓩꓪꓫꓬꓭꓮꓯꓰꓱꓲꓳꓴ";
const ALIKE = new RegExp(`[${ALIKES}]`, "u");
const EVERY_ALIKE = new RegExp(ALIKE, "gu");
const ONLY_ALIKE = new RegExp(`^[${ALIKES}]+$`, "u");

/** First the text that would look spelled out, then the characters to spell out. */
function plainLetters(text: string): string {
  return spellAlike(text.replace(/\\(?=u\{)/g, spelt), spelt);
}

function spelt(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}

/**
 * Control and format characters, signs that look like ASCII ones, characters without a meaning or a glyph, and every
 * space but the usual one. A variation selector that turns the previous character into an emoji stays.
 */
const HIDDEN =
  /\p{C}|[\u037e\u1fef\u212a\u2024\u2044\u2215\u29f8]|[^\P{Z} ]|(?!(?<=\p{Extended_Pictographic})\ufe0f)\p{Default_Ignorable_Code_Point}|\u2800/gu;
