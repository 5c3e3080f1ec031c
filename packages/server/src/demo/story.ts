/** What the demo is about: a file of five hundred lines, and what scripted agents write into it. */

/** Its path, from the workspace's root. */
export const DEMO_PATH = "blockyard-demo/shop.ts";
export const DEMO_LINES = 500;

export const CAST = ["ada", "grace", "alan"] as const;

const NOUNS = [
  "order",
  "basket",
  "price",
  "stock",
  "voucher",
  "address",
  "parcel",
  "invoice",
  "customer",
  "refund",
];
const NOTES = [
  "a price of zero is a gift, not an error",
  "round only once, at the end",
  "the customer may have moved since",
  "two parcels can share one address",
  "never below zero, whatever the voucher says",
  "count what is reserved as sold",
  "the clock of the shop, not of the browser",
  "an empty basket is fine",
];

/** The file before anybody edits it: as many functions as fit. */
export function demoText(): string {
  const lines = ["// The shop. Several agents, and you, edit this file at the same time.", ""];
  for (let i = 0; lines.length < DEMO_LINES; i++) {
    const noun = NOUNS[i % NOUNS.length] as string;
    const name = `${noun}${Math.floor(i / NOUNS.length) + 1}`;
    lines.push(
      `/** What the ${noun} number ${i + 1} comes to. */`,
      `export function ${name}(amount: number, count: number): number {`,
      `  const whole = amount * count + ${i};`,
      `  return whole > ${i * 10} ? whole : ${i * 10};`,
      "}",
      "",
    );
  }
  return `${lines.slice(0, DEMO_LINES).join("\n")}\n`;
}

/** A line that nobody else writes. */
export function noteOf(agent: string, number: number): string {
  return `  // ${agent} ${number}: ${NOTES[number % NOTES.length]}`;
}
