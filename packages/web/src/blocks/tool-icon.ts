/**
 * Which icon stands for a tool, by its name; names differ between providers in case and punctuation only.
 */
import type { IconName } from "../ui/icons.tsx";

const ICONS: readonly (readonly [RegExp, IconName])[] = [
  [/^(read|cat|view|readfile|readmanyfiles|notebookread)$/, "file"],
  [/^(write|writefile|create)$/, "files"],
  [/(edit|replace|patch)/, "edit"],
  [/(bash|shell|exec|command|terminal|kill)/, "terminal"],
  [/(websearch|googlewebsearch|fetch|browser|web)/, "globe"],
  [/(grep|search|find)/, "search"],
  [/^(glob|ls|list|listdirectory)$/, "folder"],
  [/(todo|plan)/, "todo"],
  [/^(task|agent|subagent|spawnagent|delegate)$/, "agent"],
  [/^task/, "todo"],
  [/(image|screenshot)/, "image"],
];

export function toolIcon(toolName: string, server: string | undefined): IconName {
  const name = toolName.toLowerCase().replace(/[^a-z]/g, "");
  const found = ICONS.find(([pattern]) => pattern.test(name))?.[1];
  return found ?? (server !== undefined || toolName.startsWith("mcp__") ? "plug" : "tool");
}
