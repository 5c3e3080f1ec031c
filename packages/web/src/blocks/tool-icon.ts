/** The icon of a call: by what it does and, for third-party tools, by their source. */
import type { Deed } from "@blockyard/kernel";
import type { IconName } from "../ui/icons.tsx";

const ICONS: Readonly<Record<Exclude<Deed, "other">, IconName>> = {
  read: "file",
  search: "search",
  list: "folder",
  fetch: "globe",
  web: "globe",
  run: "terminal",
  edit: "edit",
  todo: "todo",
  agent: "agent",
  ask: "question",
};

export function toolIcon(deed: Deed, toolName: string, server: string | undefined): IconName {
  if (deed === "ask" && /plan/i.test(toolName)) return "todo";
  if (deed !== "other") return ICONS[deed];
  if (server !== undefined || toolName.startsWith("mcp__")) return "plug";
  return /image|screenshot/i.test(toolName) ? "image" : "tool";
}
