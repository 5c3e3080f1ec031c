/**
 * The shape of the code, checked like behaviour. The rules are data in tidy/house.ts, the checks are functions
 * beside it, tried on samples in tidy/samples.test.ts; here they meet the real files.
 */
import { expect, it } from "vitest";
import { checkBounds } from "./tidy/bounds.ts";
import { checkPurity, checkRawHtml, checkShells, checkSwitchedOff } from "./tidy/calls.ts";
import { checkCasts, checkMetadataReads } from "./tidy/casts.ts";
import { checkWalk, findBrokenLinks, findUnlinked } from "./tidy/docs.ts";
import { findUnusedExports } from "./tidy/exports.ts";
import { recorded } from "./tidy/house.ts";
import { checkImports, checkLight, findCycles, findDead, findFolderCycles } from "./tidy/imports.ts";
import { checkFileLength, checkFunctionLength, checkHeaders, checkNames } from "./tidy/shape.ts";
import { isCode, parse, readTree } from "./tidy/source.ts";
import { checkRules } from "./tidy/spec.ts";
import { checkBanned, checkMachine, checkNotes } from "./tidy/words.ts";

const files = readTree();
const code = files.filter(({ path }) => isCode(path) && !recorded.test(path)).map(parse);
const styles = files.filter(({ path }) => path.endsWith(".css"));
const manifests = files.filter(({ path }) => /^((packages\/[^/]+|bench)\/)?package\.json$/.test(path));

it.each<[string, () => string[]]>([
  ["imports follow the table", () => checkImports(code, manifests)],
  ["no import goes in a circle", () => findCycles(code)],
  ["folders have an order", () => findFolderCycles()],
  ["what starts often loads little", () => checkLight(code, manifests)],
  ["no file is dead", () => findDead(code, styles, manifests)],
  ["no export is unused", () => findUnusedExports(code, manifests)],
  ["pure packages take clock, chance and timers from env", () => checkPurity(code)],
  ["no shell is started with a pasted command", () => checkShells(code)],
  ["no raw HTML gets into the page", () => checkRawHtml(code)],
  ["few casts forget a type, and each says why", () => checkCasts(code)],
  ["bounds stand in tables", () => checkBounds(code)],
  ["metadata is read by its type", () => checkMetadataReads(code)],
  ["no test is switched off", () => checkSwitchedOff(code)],
  ["files are of a size that one can read", () => checkFileLength([...code, ...styles])],
  ["functions are of a size that one can read", () => checkFunctionLength(code)],
  ["names are kebab-case nouns", () => checkNames(files.map(({ path }) => path))],
  ["every source file says what it is", () => checkHeaders(files)],
  ["every rule of the spec has a test, every cited rule exists", () => checkRules(files)],
  ["nothing is about one machine", () => checkMachine(files)],
  ["nothing is left as a note", () => checkNotes(files)],
  ["every page of docs is linked from ARCHITECTURE.md", () => findUnlinked(files)],
  ["links in docs lead somewhere", () => findBrokenLinks(files)],
  ["a token passes few files, which exist", () => checkWalk(files)],
  ["no banned word is used", () => checkBanned(files)],
])("%s", (_, check) => {
  expect(check()).toEqual([]);
});

it("looks at the real tree", () => {
  expect(code.map(({ path }) => path)).toContain("test/tidy.test.ts");
  expect(manifests).toHaveLength(7);
});
