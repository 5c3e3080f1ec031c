/** An agent's request in a few words: its heading, and its text elsewhere. */
import { type Ask, hasPlan, inFolder, knownTool } from "@blockyard/kernel";

export function askHeading(
  ask: Ask,
  call: { readonly metadata: { readonly toolName?: string | undefined } },
  folder: string | undefined,
): string {
  const { kind, subject, form, title, questions } = ask;
  if (kind === "plan") return hasPlan(ask) ? "Approve this plan?" : "Leave plan mode without a plan?";
  if (kind === "question") {
    const [first, ...others] = questions ?? [];
    if (others.length > 0) return `The agent has ${others.length + 1} questions`;
    return first?.question ?? "The agent has a question";
  }
  if (kind === "elicitation")
    return form?.server === undefined ? "The agent needs input" : `${form.server} needs input`;
  switch (subject?.type) {
    case "diff":
      return `Edit ${pathsIn(subject.paths, folder) ?? "files"}?`;
    case "command":
      return title === undefined || title === subject.command ? "Run this command?" : title;
    case "url":
      return `Fetch from \`${hostOf(subject.url)}\`?`;
    case "tool":
      return title ?? toolHeading(subject.tool, subject.server);
    default:
      return title ?? toolHeading(call.metadata.toolName ?? "this tool", undefined);
  }
}

function toolHeading(tool: string, server: string | undefined): string {
  const known = server === undefined ? knownTool(tool) : undefined;
  if (known !== undefined) return `${known}?`;
  const name = tool.replace(/^mcp__.+?__/, "");
  return server === undefined ? `Use ${name}?` : `Use ${name} from ${server}?`;
}

function pathsIn(paths: readonly string[] | undefined, folder: string | undefined): string | undefined {
  if (paths === undefined || paths.length === 0) return undefined;
  const [first = ""] = paths;
  const name = inFolder(first, folder);
  return paths.length === 1 ? `\`${name}\`` : `\`${name}\` and ${paths.length - 1} more`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
