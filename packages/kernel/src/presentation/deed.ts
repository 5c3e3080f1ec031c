/**
 * What a tool call does, in one word, for any provider's tool: by its result if known, else by the tool's name. The
 * page's icons, its loudness and the text of a group of quiet calls are derived from it.
 */

import type { Kind } from "../model/kind.ts";

export const DEEDS = [
  "read",
  "search",
  "list",
  "fetch",
  "web",
  "run",
  "edit",
  "todo",
  "agent",
  "ask",
  "other",
] as const;
export type Deed = (typeof DEEDS)[number];

/** The first that fits; names are compared by their letters alone, since providers differ in case and punctuation. */
const NAMES: readonly (readonly [RegExp, Deed])[] = [
  [/^(askuserquestion|requestuserinput|exitplanmode|enterplanmode|askuser)$/, "ask"],
  [/^(task|agent|subagent|spawnagent|delegate|delegatetoagent|invokeagent|codebaseinvestigator)$/, "agent"],
  [/^(todo|writetodos|updateplan|plan$|task(create|update|list|get)$)/, "todo"],
  [/^(websearch|googlewebsearch)$/, "web"],
  [/^(webfetch|fetch|browser|openpage|webrun)/, "fetch"],
  [
    /^(read|cat|view|open)(file|manyfiles|image|mcpresource(tool)?)?$|^(notebookread|bashoutput|taskoutput)$/,
    "read",
  ],
  [/^(edit|write|replace|multiedit|create|patch|applypatch|filechange|writefile|notebookedit)$/, "edit"],
  [/^(strreplacebasededittool|strreplaceeditor|texteditorcodeexecution)$/, "edit"],
  [/^(glob|ls|list|listdirectory|listmcpresources(tool)?)$/, "list"],
  [/^(grep|rg|search|find|codebasesearch|toolsearch|grepsearch|searchfilecontent|filesearch)$/, "search"],
  [/^(bash|shell|exec|execute|terminal|localshell|shellcommand|execcommand|commandexecution)$/, "run"],
  [
    /^(runshellcommand|bashcodeexecution|codeexecution|codeinterpreter|python|powershell|repl|program)$/,
    "run",
  ],
];

const KINDS: Partial<Record<Kind, Deed>> = {
  command: "run",
  file_change: "edit",
  todo: "todo",
  code: "read",
};

/** `results`: the kinds of the call's results. A call that changed a file counts as a change, whatever else it printed. */
export function deedOf(toolName: string, results: readonly Kind[] = []): Deed {
  if (results.includes("file_change")) return "edit";
  const name = toolName.toLowerCase().replace(/[^a-z]/g, "");
  const named = NAMES.find(([pattern]) => pattern.test(name))?.[1];
  if (named !== undefined && named !== "edit") return named;
  for (const kind of results) {
    const deed = KINDS[kind];
    if (deed !== undefined) return deed;
  }
  return named ?? "other";
}
