/**
 * Checks that specification and tests name each other. A rule is a line of docs/spec that carries its id in bold
 * brackets; a test cites it by the id in brackets, in a title or a comment.
 */
import { longChecks } from "./house.ts";
import { type File, lineAt } from "./source.ts";

export function checkRules(files: readonly File[]): string[] {
  const rules = new Map<string, string>();
  const complaints: string[] = [];
  for (const { path, text } of files.filter(isSpec)) {
    for (const match of text.matchAll(/\*\*\[([A-Z]{1,2}\d+)\]\*\*/g)) {
      const where = `${path}:${lineAt(text, match.index)}`;
      const first = rules.get(match[1]!);
      if (first !== undefined) complaints.push(`${where} [${match[1]}] is already defined at ${first}`);
      else rules.set(match[1]!, where);
    }
  }
  const prefixes = new Set([...rules.keys()].map(prefix));
  const cited = new Set<string>();
  for (const { path, text } of files.filter(isCiting)) {
    for (const match of text.matchAll(/\[([A-Z]{1,2}\d+)\]/g)) {
      const id = match[1]!;
      cited.add(id);
      if (!rules.has(id) && prefixes.has(prefix(id))) {
        complaints.push(
          `${path}:${lineAt(text, match.index)} cites [${id}], which no page of docs/spec defines`,
        );
      }
    }
  }
  for (const [id, where] of rules) {
    if (!cited.has(id)) complaints.push(`${where} [${id}] is cited by no test`);
  }
  return complaints;
}

function isSpec({ path }: File): boolean {
  return /^docs\/spec\/.*\.md$/.test(path);
}

/** The tests of the tidy test talk about made-up rules. */
function isCiting({ path }: File): boolean {
  if (path.startsWith("test/tidy/")) return false;
  return longChecks.test(path) || /(\.(test|fuzz|contract)|-contract)\.tsx?$/.test(path);
}

function prefix(id: string): string {
  return id.replace(/\d+$/, "");
}
