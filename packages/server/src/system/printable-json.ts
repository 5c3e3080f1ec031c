/**
 * JSON that people may see in a terminal. JSON itself escapes C0 controls only: those of C1, the bidirectional ones and whatever else
 * does not show can still fool a terminal, or its reader. Escaped they are the same JSON.
 */

const UNSEEN = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, i) => escaped(char.charCodeAt(i))).join(""),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
