/**
 * Text for people who must see exactly what is there: on the page and in exports alike. It changes nothing that is
 * stored.
 */

/**
 * A text exactly as it is, with what cannot be seen made visible: controls, characters that reorder or hide others, spaces that are
 * none of the usual ones, letters of another script among Latin ones that look the same, empty lines that push what follows out of
 * sight. For everything that somebody is asked to allow: two different texts never look the same.
 */
export function exactText(text: string): string {
  return plainLetters(text)
    .replace(HIDDEN, (character) => (character === "\n" || character === "\t" ? character : spelt(character)))
    .replace(EMPTY_LINES, (lines) => `\n\\u{a} ×${lines.length - 2}\n`);
}

/** The same of a name, which has no lines. */
export function exactName(name: string): string {
  return plainLetters(name).replace(HIDDEN, spelt);
}

/** More than are ever written on purpose. */
const EMPTY_LINES = /\n{17,}/g;

/**
 * Words in Latin letters, with each letter of another script spelt out: `раypal` begins with two that are Cyrillic. A word that has
 * letters which no Latin one looks like is plainly of that script.
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

/** First what would look like something spelt out, then what is. */
function plainLetters(text: string): string {
  return spellAlike(text.replace(/\\(?=u\{)/g, spelt), spelt);
}

function spelt(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}

/**
 * Controls and format characters, signs that are drawn like those of ASCII, what has no meaning or is drawn as nothing, and every space
 * but the usual one. A sign that makes a picture of the character before it stays.
 */
const HIDDEN =
  /\p{C}|[\u037e\u1fef\u212a\u2024\u2044\u2215\u29f8]|[^\P{Z} ]|(?!(?<=\p{Extended_Pictographic})\ufe0f)\p{Default_Ignorable_Code_Point}|\u2800/gu;
