/** Checks on the outside of files: length, length of functions, names, and the comment at the top. */
import {
  fileLinesMax,
  forbiddenNames,
  functionLinesMax,
  recorded,
  sourceLinesMax,
  testing,
} from "./house.ts";
import { type File, lineAt, type Source, visit } from "./source.ts";

export function checkFileLength(files: readonly File[]): string[] {
  return files
    .filter(({ path }) => !testing.test(path))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length, most: mostLines(path) }))
    .filter(({ lines, most }) => lines > most)
    .map(
      ({ path, lines, most }) =>
        `${path} has ${lines} lines; the limit is ${most}. Which second noun hides in it?`,
    );
}

function mostLines(path: string): number {
  return /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) ? sourceLinesMax : fileLinesMax;
}

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export function checkFunctionLength(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !testing.test(path))
    .flatMap(({ path, text, tree }) => {
      const found: string[] = [];
      visit(tree, (node) => {
        if (!functions.has(node.type)) return;
        const first = lineAt(text, node.start);
        const lines = lineAt(text, node.end) - first + 1;
        if (lines > functionLinesMax) {
          found.push(`${path}:${first} a function of ${lines} lines; the limit is ${functionLinesMax}`);
        }
      });
      return found;
    });
}

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Folders and files of code and docs. A name may have dotted endings: `merge.worker.ts`. */
export function checkNames(paths: readonly string[]): string[] {
  const ours = paths.filter(
    (path) => /^(packages\/[^/]+\/src|bench|test|scripts|docs)\//.test(path) && !recorded.test(path),
  );
  return ours.flatMap((path) => {
    const bad = path
      .split("/")
      .map((part) => part.replace(/^\./, "").split(".")[0]!)
      .find((name) => !kebab.test(name) || forbiddenNames.includes(name.split("-").at(-1)!));
    if (bad === undefined) return [];
    const why = kebab.test(bad) ? "says nothing: name it after its noun" : "is not kebab-case";
    return [`${path}: "${bad}" ${why}`];
  });
}

/** What it is, what it is not, the invariant it keeps: in front of everything but a `#!` line. */
export function checkHeaders(files: readonly File[]): string[] {
  return files
    .filter(({ path }) => /^packages\/[^/]+\/src\/.*\.(tsx?|css)$/.test(path) && !recorded.test(path))
    .filter(({ text }) => !/^(#!.*\n)?\s*(\/\*|\/\/)/.test(text))
    .map(({ path }) => `${path} has no header comment`);
}
