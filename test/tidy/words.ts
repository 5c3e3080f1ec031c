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

/** Names that docs/glossary.md bans: each meant several things here, or something else in the field. */
const banned =
  "Told|Desk|Offspring|Elsewhere|Pace|Lanes|Ground|Young|Yard|Door|yard|young|door|offspring|spoilt|strangers|openYard";
const declared = new RegExp(`\\b(?:class|interface|type|enum|function|const|let)\\s+(?:${banned})\\b`, "g");
const bannedInPages = /\b(?:yards?|strangers?|faces|write door)\b/g;

/** In code no such name is declared; in pages nobody uses the words. What others say and what was, is not ours. */
export function checkBanned(files: readonly File[]): string[] {
  return files
    .filter(({ path }) => !recorded.test(path))
    .flatMap((file) => {
      if (/\.tsx?$/.test(file.path)) return matches(file, declared, "declares a name that the glossary bans");
      const isPage = /^(docs\/(guides|spec)\/.*|[A-Z]+)\.md$/.test(file.path) && file.path !== "CHANGELOG.md";
      return isPage ? matches(file, bannedInPages, "uses a word that the glossary bans") : [];
    });
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
