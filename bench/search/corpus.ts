/**
 * Texts to search in: made from seeds, with about as many different strings of three letters as English prose and code have, and
 * with a few names planted that a person would look for.
 */

/** Planted in a few blocks each: what a person looks for and knows the name of. */
export const PLANTED = [
  "retryBudgetExhausted",
  "ECONNRESET_UPSTREAM",
  "parseLeaseHeader",
  "0x7ffe3c21",
  "flushBeforeFork",
  "kitchen sink",
  "Überlauf",
];
const PLANTED_EVERY = 500;

/** Texts of so many bytes together, always the same. */
export function* textsOf(words: readonly string[], totalBytes: number): Generator<string> {
  const random = randomSource(11);
  let count = 0;
  for (let written = 0; written < totalBytes; ) {
    const planted =
      count++ % PLANTED_EVERY === 0 ? PLANTED[((count / PLANTED_EVERY) % PLANTED.length) | 0] : undefined;
    const text = textOf(random, words, planted);
    written += Buffer.byteLength(text);
    yield text;
  }
}

/** Blocks of 0.5 to 20 KB, five on average: a sentence on most lines, some code, some logs. */
function textOf(random: () => number, words: readonly string[], planted: string | undefined): string {
  const chars = [500, 1_500, 3_000, 5_000, 7_000, 20_000, 2_000, 1_000][Math.floor(random() * 8)] as number;
  const lines: string[] = [];
  let length = 0;
  while (length < chars) {
    const line = lineOf(random, words);
    lines.push(line);
    length += line.length + 1;
  }
  if (planted !== undefined) lines[lines.length >> 1] = `  throw new StreamError("${planted}", { cause });`;
  return lines.join("\n");
}

function lineOf(random: () => number, words: readonly string[]): string {
  // Zipf's law: the n-th word about 1/n as often as the first.
  const word = () => words[Math.floor(words.length ** random()) - 1] as string;
  const count = 4 + Math.floor(random() * 12);
  const some = Array.from({ length: count }, word);
  const kind = random();
  if (kind < 0.6) return `${some.join(" ")}.`;
  if (kind < 0.85) return `  const ${some[0]} = ${some[1]}.${some[2]}(${some.slice(3, 6).join(", ")});`;
  return `[${Math.floor(random() * 1e9)}] ${some[0]}: ${some.slice(1, 8).join("=")}`;
}

/**
 * Thirty thousand words of one to four syllables, the short ones first, as in languages. There are about as many different
 * strings of three letters in it as in English prose and code.
 */
export function vocabulary(): string[] {
  const random = randomSource(7);
  const onsets =
    `b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st str t th tr v w x y
    z`.split(/\s+/);
  const middles = "a e i o u ai au ea ee ie io oa oo ou ue y".split(" ");
  const endings =
    `b ck ct d f ft g gh k l ld ll lt m mp n nd ng nk nt p pt r rd rk rm rn rt s sh sk ss st t th tt v x z
    _`.split(/\s+/);
  // The first of a list is the most frequent one.
  const pick = (list: readonly string[]) => list[Math.floor(random() ** 1.5 * list.length)] as string;
  const words = new Set<string>();
  while (words.size < 30_000) {
    const syllables = 1 + Math.floor(words.size / 3_000) ** 0.5;
    let word = "";
    for (let i = 1; i <= syllables; i++)
      word += pick(onsets) + pick(middles) + (random() < 0.6 ? pick(endings) : "");
    words.add(word);
  }
  return [...words];
}

function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
