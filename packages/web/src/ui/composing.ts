/**
 * Whether a key belongs to a word that is being composed with an input method: Enter then takes the word, Escape gives it
 * up, arrows choose among others. Safari sends the last of these keys after the composition; its code alone says so.
 */
const COMPOSING_CODE = 229;

export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === COMPOSING_CODE;
}
