/** The colours of tokens.css against each other: every text and background pair is readable, in both themes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");
const THEMES = ["light", "dark"] as const;

/** Text of this size needs this contrast (WCAG 2.2, 1.4.3); marks and borders of controls the other (1.4.11). */
const TEXT = 4.5;
const MARK = 3;

const SURFACES = ["bg", "side", "raised", "sunk", "well", "hover", "chip"];
const STATES = ["needs", "running", "failed", "stopped"];
const SYNTAX = ["keyword", "string", "constant", "comment", "function", "parameter", "link"].map(
  (t) => `t-${t}`,
);
const ANSI = Array.from({ length: 16 }, (_, i) => `ansi-${i}`);
const WHO = Array.from({ length: 6 }, (_, i) => `who-${i}`);

const PAIRS: readonly (readonly [string, string, number])[] = [
  ...SURFACES.flatMap((ground) =>
    ["text", "dim", "faint", "brand", ...STATES, "added", "removed", ...SYNTAX, ...WHO].map(
      (ink) => [ink, ground, TEXT] as const,
    ),
  ),
  ...["text", "dim", "brand"].map((ink) => [ink, "brand-soft", TEXT] as const),
  ["brand-text", "brand", TEXT],
  ["brand-text", "brand-hover", TEXT],
  ...STATES.flatMap((state) => [
    [state, `${state}-soft`, TEXT] as const,
    ["text", `${state}-soft`, TEXT] as const,
    ["dim", `${state}-soft`, TEXT] as const,
  ]),
  ...["added", "removed"].flatMap((way) => [
    [way, `${way}-bg`, TEXT] as const,
    ...["text", "dim", ...SYNTAX.filter((ink) => ink !== "t-comment")].map(
      (ink) => [ink, `${way}-mark`, TEXT] as const,
    ),
    ...SYNTAX.map((ink) => [ink, `${way}-bg`, TEXT] as const),
  ]),
  ...["term-text", "term-dim", "brand", ...ANSI].map((ink) => [ink, "term-bg", TEXT] as const),
  ...Array.from({ length: 8 }, (_, i) => ["term-text", `ansi-bg-${i}`, TEXT] as const),
  ["text", "find-match", TEXT],
  ["find-current-text", "find-current", TEXT],
  ["brand", "bg", MARK],
];

for (const theme of THEMES)
  test(`[V100] every colour of the ${theme} theme can be read on what it is written on`, () => {
    const found = PAIRS.map(([ink, ground, needed]) => ({
      pair: `${ink} on ${ground}`,
      contrast: contrast(colour(ink, theme), colour(ground, theme)),
      needed,
    }));
    expect(found.length).toBeGreaterThan(150);
    expect(found.filter(({ contrast, needed }) => contrast < needed)).toEqual([]);
  });

/** The colour of a name: `light-dark(#…, #…)`, or one for both. */
function colour(name: string, theme: (typeof THEMES)[number]): string {
  const value = new RegExp(`--${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(css);
  const found = value?.[3] ?? value?.[theme === "light" ? 1 : 2];
  if (found === undefined) throw new Error(`no colour --${name}`);
  return found;
}

function contrast(a: string, b: string): number {
  const [lighter, darker] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return Math.round(((lighter + 0.05) / (darker + 0.05)) * 100) / 100;
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
