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

it.each([
  ["for another: blockyard link", ["--home", "/h"], "for another: blockyard link --home /h"],
  ["Start it: blockyard", ["ls", "--home=/h"], "Start it: blockyard --home /h"],
  ["blockyard show k3vq2mz", ["run", "codex", "Go", "--home", "/h"], "blockyard show --home /h k3vq2mz"],
  [
    "Choose another: blockyard --port 4568",
    ["--home", "/h"],
    "Choose another: blockyard --home /h --port 4568",
  ],
  ["blockyard: no such thing\nTry: blockyard help ls", ["ls", "--home", "/h"], undefined],
  ["blockyard /srv/shop --home /h-2", ["--home", "/h"], undefined],
  ["blockyard link", ["link", "--home", "/my h"], "blockyard link --home '/my h'"],
  ["blockyard link", ["acp", "--", "agent", "--home", "/h"], undefined],
  ["blockyard link", ["link"], undefined],
])("[U4] %j, of a command with the arguments %j", (hint, args, typed) => {
  expect(asTyped(hint, {}, args)).toBe(typed ?? hint);
});

it("[U4] a data directory is named from a clone too", () => {
  expect(asTyped("Show it: blockyard show k3vq2mz", CLONE, ["--home", "/h"])).toBe(
    "Show it: npm start -s -- show --home /h k3vq2mz",
  );
});
