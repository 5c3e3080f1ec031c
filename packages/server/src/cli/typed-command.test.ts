/** Hints, from a clone and where the command is installed. */
import { expect, it } from "vitest";
import { asTyped } from "./typed-command.ts";

const CLONE = { npm_lifecycle_event: "start", npm_package_name: "blockyard" };
const HINTS: readonly (readonly [string, string])[] = [
  [
    "The link works once; for another: blockyard link",
    "The link works once; for another: npm start -s -- link",
  ],
  ["Start it: blockyard", "Start it: npm start"],
  ["in use. Choose another: blockyard --port 4568", "in use. Choose another: npm start -s -- --port 4568"],
  ["blockyard: no such folder\nTry: blockyard help", "blockyard: no such folder\nTry: npm start -s -- help"],
  ["the file ~/.blockyard/token of blockyard-mcp", "the file ~/.blockyard/token of blockyard-mcp"],
];
for (const [hint, typed] of HINTS)
  it(`[U4] ${hint}`, () => {
    expect(asTyped(hint, CLONE)).toBe(typed);
    expect(asTyped(hint, {})).toBe(hint);
    // The command, started by another project's npm start.
    expect(asTyped(hint, { ...CLONE, npm_package_name: "shop" })).toBe(hint);
  });
