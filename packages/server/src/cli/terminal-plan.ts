/**
 * A plan that waits for approval, in a terminal: as its block reads now, and edited in the person's own editor. What others change in
 * the same lines meanwhile is not overwritten.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { visible } from "../processes/visible.ts";
import type { BlockSource } from "./block-source.ts";

/** Quoted lines behind a bar, so that none of them looks like a line of ours, such as a row with a number. */
export function quoted(text: string): string {
  return visible(text.trimEnd()).replaceAll(/^/gm, "  │ ");
}

/** A plan as it was shown: approval applies to this version. */
export interface ShownPlan {
  readonly text: string;
  readonly version: number;
}

/** Its block's current text; undefined if it cannot be read. */
export async function planText(client: BlockSource, block_id: string): Promise<ShownPlan | undefined> {
  const plan = await client.call("block.read", { block_id, line_numbers: false });
  if (isProblem(plan)) return undefined;
  const rest =
    plan.truncated === true ? "\nThe plan is too long to show here: read the rest on the page." : "";
  return { text: `The plan needs approval:\n${quoted(plan.content)}${rest}`, version: plan.version };
}

/**
 * Opens the editor that `VISUAL` or `EDITOR` names. Returns why the plan was not changed; empty if it was, or nothing
 * was to change.
 */
export async function editPlan(
  client: BlockSource,
  block_id: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const plan = await client.call("block.read", { block_id, line_numbers: false });
  if (isProblem(plan)) return plan.message;
  const { content: before, version: base_version, line_count: end_line } = plan;
  if (plan.truncated === true) return "the plan is too long for an editor here. Edit it on the page";
  const folder = mkdtempSync(join(tmpdir(), "blockyard-plan-"));
  try {
    const file = join(folder, "plan.md");
    writeFileSync(file, before);
    const editor = env["VISUAL"] || env["EDITOR"] || "vi";
    const code = await opened(editor, file);
    if (code !== 0) return `${editor} exited with ${code}, so the plan is unchanged`;
    const content = readFileSync(file, "utf8");
    if (content === before) return "";
    const operations = [{ op: "replace" as const, start_line: 0, end_line, content }];
    const edited = await client.call("block.edit", { block_id, operations, base_version });
    return isProblem(edited) ? edited.message : "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As git does it: the variable may hold options. */
function opened(editor: string, file: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", `${editor} "$@"`, editor, file], { stdio: "inherit" });
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
