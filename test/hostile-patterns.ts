/**
 * Patterns that hurt: two hundred of them in eight families, made by rule so that they differ in more than their
 * numbers, and texts to try them on. What a search must do with them is [R36] and [Q23]; the rows themselves expect
 * nothing of an engine.
 */

export interface HostilePattern {
  readonly family: string;
  readonly pattern: string;
}

const PER_FAMILY = 25;

type Maker = (n: number) => string;

/** `n` counts from 1 to 25. */
const FAMILIES: Readonly<Record<string, readonly Maker[]>> = {
  "nested quantifiers": [
    (n) => `${"(".repeat(n)}a${"+)".repeat(n)}+$`,
    (n) => `(a*)*b{${n}}`,
    (n) => `(([a-z]+)*[0-9]{0,${n}})*!`,
    (n) => `((a{0,${n}})*)*c`,
    (n) => `(a?){${10 * n}}a{${10 * n}}$`,
  ],
  "overlapping alternations": [
    (n) => `(a|aa)${"+(a|aa)".repeat(n)}+$`,
    (n) => `(${Array.from({ length: n + 1 }, (_, i) => "a".repeat(i + 1)).join("|")})*x`,
    (n) => `(a|a?|a*){${n}}y`,
    (n) => `(\\w|[a-z]|a|.)*(\\d{${n}}|!)z`,
    (n) => `((ab|a)(bc|c)?|abc){1,${n}}\\b#`,
  ],
  "counted repetitions": [
    (n) => `(a{1,${4 * n}}){1,${Math.floor(1_000 / (4 * n))}}b`,
    (n) => `.{${40 * n}}x`,
    (n) => `(.{0,${n}}a){${n}}#`,
    (n) => `([a-z]{${n}}[0-9]?){1,30}!`,
    (n) => `(((a{${n}}){${n}}){${n}}){${n}}`,
  ],
  "deep groups": [
    (n) => `${"(".repeat(20 * n)}a${")".repeat(20 * n)}`,
    (n) => `${"(?:".repeat(8 * n)}a${"|b)*".repeat(8 * n)}c`,
    (n) => `${"(a|".repeat(10 * n)}b${")".repeat(10 * n)}x`,
    (n) => `${"(".repeat(n)}${"a)?".repeat(n)}${"(b".repeat(n)}${")*".repeat(n)}c`,
    (n) => `${"((?i)a".repeat(5 * n)}${")".repeat(5 * n)}#`,
  ],
  "large classes": [
    (n) => `\\pL{${39 * n}}\\d`,
    (n) => `(?i)[\\pL\\pN\\pP]{1,${39 * n}}#`,
    (n) => `(\\P{Greek}*\\p{Han}?){${n}}x`,
    (n) => `(?i)[\\x{0}-\\x{10ffff}]{${39 * n}}$`,
    (n) => `([^\\p{Lu}\\p{Cyrillic}]|[\\p{L}]){${n},}\\p{Sm}`,
  ],
  "long alternations": [
    (n) =>
      Array.from({ length: 8 * n }, (_, i) => `w${i}`)
        .join("|")
        .slice(0, 1_000),
    (n) => `(?i)(${Array.from({ length: 6 * n }, (_, i) => `k${i}s`).join("|")})+$`.slice(-1_000),
    (n) => `(${Array.from({ length: 6 * n }, (_, i) => `${i}.*`).join("|")})z`,
    (n) => `(${Array.from({ length: 5 * n }, (_, i) => `[a-${"bcdefghij"[i % 9]}]+${i}`).join("|")})*!`,
    (n) => `\\b(${Array.from({ length: 5 * n }, (_, i) => `a{${i}}`).join("|")})\\b#`,
  ],
  wildcards: [
    (n) => `${".*".repeat(n + 1)}#`,
    (n) => `(?s)${".*a".repeat(n)}#$`,
    (n) => `${"x*".repeat(4 * n)}y`,
    (n) => `${"[^#]*[a-z]".repeat(n)}#`,
    (n) => `(?s)(.{0,${n}}\\n?)*.*?(.*)*#`,
  ],
  "not a pattern": [
    (n) => `${"(".repeat(n)}a`,
    (n) => `${["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1"][n % 5]}${"a*".repeat(n)}`,
    (n) => `${"[".repeat(n)}a-`,
    (n) => "a".repeat(1_024 + n),
    (n) => `a{${1_000 + n}}${["*+", "\\", "\\p{No}", "(?P<", "(?x)"][n % 5]}`,
  ],
};

export const hostilePatterns: readonly HostilePattern[] = Object.entries(FAMILIES).flatMap(
  ([family, makers]) =>
    Array.from({ length: PER_FAMILY }, (_, row) => {
      const maker = makers[row % makers.length] as Maker;
      // From small to large, so that both ends of every rule are in the list.
      return { family, pattern: maker(1 + 6 * Math.floor(row / makers.length)) };
    }),
);

/** Half of it the letter that most patterns want, in one line; the other half words in lines. No "#" anywhere. */
export function hostileText(chars: number): string {
  const words = "aa abc w7 k42s the quick aab 1234 xx yz Привет λόγος a! b, c".split(" ");
  const parts = ["a".repeat(chars / 2), "\n"];
  let length = chars / 2 + 1;
  for (let i = 0; length < chars; i++) {
    const word = words[(i * 7 + (i >> 3)) % words.length] + (i % 11 === 10 ? "\n" : " ");
    parts.push(word);
    length += word.length;
  }
  return parts.join("").slice(0, chars);
}
