/**
 * What a tool is called where people read: one table for the page, exports and the command. Providers have names of their own
 * for the same things; the page shows the original name on hover and in the opened call.
 */
import { IDENTIFIER_CHARS, TOOL_TITLE_CHARS } from "./limits.ts";

/** By the letters of the tool's name, since providers differ in case and punctuation. Each reads well before its subject. */
const TITLES: Readonly<Record<string, string>> = table({
  Read: "read readfile readmanyfiles cat view open",
  "Read notebook": "notebookread",
  "Read resource": "readmcpresource readmcpresourcetool",
  "Read output": "bashoutput taskoutput",
  "View image": "viewimage readimage",
  Write: "write writefile create",
  Edit: "edit replace multiedit patch applypatch filechange strreplaceeditor strreplacebasededittool texteditorcodeexecution",
  "Edit notebook": "notebookedit",
  Deleted: "delete deletefile",
  Moved: "move movefile",
  List: "ls list listdirectory",
  "List resources": "listmcpresources listmcpresourcetemplates listmcpresourcestool",
  "Find files": "glob filesearch",
  Search: "grep rg search find grepsearch searchfilecontent",
  "Search the code": "codebasesearch",
  "Search tools": "toolsearch",
  "Search the web": "websearch googlewebsearch",
  Fetch: "webfetch fetch openpage",
  Run: "bash shell exec execute terminal localshell shellcommand execcommand commandexecution runshellcommand bashcodeexecution powershell",
  "Run code": "codeexecution codeinterpreter python pythonexecution repl program",
  "Typed into the terminal": "writestdin",
  "Stopped a command": "killshell killbash",
  "Stopped a task": "taskstop",
  Watched: "monitor",
  "Asked a question": "askuserquestion requestuserinput askuser",
  Plan: "exitplanmode",
  "Started planning": "enterplanmode",
  "Updated the to-do list": "todo todowrite todolist writetodos updateplan",
  "Read the to-do list": "todoread tasklist",
  "Added a to-do": "taskcreate",
  "Updated a to-do": "taskupdate",
  "Read a to-do": "taskget",
  Agent: "task agent subagent spawnagent delegate delegatetoagent invokeagent",
  "Investigate the code": "codebaseinvestigator",
  "Waited for agents": "wait waitagent",
  "Messaged an agent": "sendinput sendmessage",
  "Resumed an agent": "resumeagent",
  "Closed an agent": "closeagent",
  "Used a skill": "skill activateskill",
  "Used a command": "slashcommand",
  "Created an image": "imagegeneration imagegen",
  Thought: "think",
});

/** Names that say nothing: the provider's display name is better. */
const NAMELESS = /^(other|tool)?$/;
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** `displayName` is the provider's own, if it states one. */
export function toolTitle(toolName: string, displayName: string | undefined): string {
  const title = titleOf(toolName, displayName);
  return title.length <= TOOL_TITLE_CHARS ? title : `${title.slice(0, TOOL_TITLE_CHARS).toWellFormed()}…`;
}

function titleOf(toolName: string, displayName: string | undefined): string {
  const known = knownTool(toolName);
  if (known !== undefined) return known;
  const mcp = /^mcp__(.+?)__(.+)$/.exec(toolName.slice(0, 2 * TOOL_TITLE_CHARS));
  if (mcp) return `${mcp[1]}: ${mcp[2]}`;
  return displayName ?? (NAMELESS.test(toolName) ? "Tool" : wordsIn(toolName));
}

/** The title of a tool that the table has. */
export function knownTool(toolName: string): string | undefined {
  return TITLES[toolName.toLowerCase().replace(/[^a-z]/g, "")];
}

/** `NotebookExport` and `notebook_export` as words; anything but an identifier stays as it is. */
function wordsIn(name: string): string {
  if (name.length > IDENTIFIER_CHARS || !IDENTIFIER.test(name)) return name;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[ _-]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z]{2,}\d*$/.test(word) ? word : word.toLowerCase()))
    .join(" ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function table(names: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const rows = Object.entries(names).flatMap(([title, of]) => of.split(" ").map((name) => [name, title]));
  return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(rows));
}
