/** Checks on the text of files: paths of one machine, hosts of one network, notes to oneself. */
import { recorded } from "./house.ts";
import { type File, lineAt } from "./source.ts";

const machinePath = /(?<![\w.~-])\/(work|farm)\//g;
const registryHost = /https?:\/\/[\w.-]*(registry|verdaccio|artifactory|nexus)[\w.-]*/g;
const internalHost = /https?:\/\/[\w.-]+\.(internal|local|lan|corp)\b/g;

export function checkMachine(files: readonly File[]): string[] {
  return files.flatMap((file) => [
    ...matches(file, machinePath, "names a path of one machine"),
    ...matches(file, registryHost, "names a package registry"),
    ...matches(file, internalHost, "names a host of one network"),
  ]);
}

const note = /(\/\/|\/\*|^\s*\*|<!-{2}).*\b(TODO\b|FIXME\b|XXX:)/gm;

/** In comments only: a sample text may say what it likes. */
export function checkNotes(files: readonly File[]): string[] {
  return files
    .filter(({ path }) => /\.(tsx?|mjs|js|css|html|md|sh)$/.test(path) && !recorded.test(path))
    .flatMap((file) => matches(file, note, "has a note to oneself: do it, or write it where it is planned"));
}

function matches({ path, text }: File, pattern: RegExp, complaint: string): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${path}:${lineAt(text, match.index)} ${complaint}: ${match[0].trim()}`,
  );
}
