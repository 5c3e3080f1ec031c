/** What a rule is about, as one writes it: the first words of a command, a folder, a domain, a tool. Pure. */
import type { ToolAnswer } from "@blockyard/client";

export type Rule = ToolAnswer<"rule.list">["rules"][number];
export type Pattern = Rule["pattern"];

/** A command that ends in an equals sign and nothing else is meant exactly. */
const EXACT = /\s+=$/;

/** Undefined if the pattern is invalid. */
export function patternFrom(type: Pattern["type"], text: string, root: string): Pattern | undefined {
  const words = text.trim();
  if (words === "") return undefined;
  switch (type) {
    case "command": {
      const isExact = EXACT.test(words);
      const parts = words.replace(EXACT, "").split(/\s+/);
      return { type, words: parts, ...(isExact ? { exact: true as const } : {}) };
    }
    case "path":
      return {
        type,
        folder: words.startsWith("/") ? words : `${root}/${words.replace(/^\.?\/?/, "")}`.replace(/\/$/, ""),
      };
    case "domain":
      return /^[\w.-]+$/.test(words) ? { type, domain: words.toLowerCase() } : undefined;
    case "tool": {
      const [tool = "", server] = words.split(/\s+(?:from|of)\s+/);
      return { type, tool, ...(server === undefined ? {} : { server }) };
    }
  }
}

/** The same, for editing. */
export function textOf(pattern: Pattern, root: string): string {
  switch (pattern.type) {
    case "command":
      return pattern.words.join(" ") + (pattern.exact === true ? " =" : "");
    case "path":
      return pattern.folder.startsWith(`${root}/`) ? pattern.folder.slice(root.length + 1) : pattern.folder;
    case "domain":
      return pattern.domain;
    case "tool":
      return pattern.server === undefined ? pattern.tool : `${pattern.tool} from ${pattern.server}`;
  }
}
