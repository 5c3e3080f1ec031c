/** A problem's words as a sentence, for beside others: a problem ends without a full stop. Pure. */

export function asSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}
