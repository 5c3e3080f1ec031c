/**
 * Trust, asked in a terminal: what in the folder acts by itself, and whether that is right. Without a terminal the answer is an
 * option of the command.
 */

import { isProblem, type Problem } from "@blockyard/kernel";
import { z } from "zod";
import { visibleName } from "../processes/visible.ts";
import type { BlockSource } from "./block-source.ts";
import { CommandError } from "./command.ts";
import { printNote } from "./terminal.ts";

/** What `trust.show` names, as a problem's details have it. */
const questionSchema = z.object({
  folder: z.string(),
  digest: z.string(),
  files: z.array(z.object({ path: z.string(), reason: z.string(), state: z.string() })),
});

type TrustQuestion = z.infer<typeof questionSchema>;

/** Starts what `start` starts; if trust is needed first, asks, or uses `isTrusted` as the answer. */
export async function withTrust<T>(
  client: BlockSource,
  isTrusted: boolean,
  ask: (question: string) => Promise<string | undefined>,
  start: () => Promise<T | Problem>,
): Promise<T | Problem> {
  const answer = await start();
  const question = isProblem(answer) ? trustQuestion(answer) : undefined;
  if (!question) return answer;
  const { folder, digest } = question;
  printNote(trustText(question));
  if (!isTrusted && !process.stdin.isTTY)
    throw new CommandError("not started. Check these files, then run it again with --trust");
  const said = isTrusted ? "y" : await ask("Trust these files? [y/N] ");
  if (!/^y(es)?$/i.test(said?.trim() ?? "")) throw new CommandError("not started");
  const given = await client.call("trust.allow", { folder, digest });
  return isProblem(given) ? given : start();
}

export function trustText({ folder, files }: TrustQuestion): string {
  const lines = files.map(
    ({ path, reason, state }) =>
      `  ${visibleName(path)}  ${reason}${state === "changed" ? " (changed)" : ""}`,
  );
  return `An agent that works in ${visibleName(folder)} runs or follows these files:\n${lines.join("\n")}`;
}

function trustQuestion({ details }: Problem): TrustQuestion | undefined {
  const question = details?.["ask"] === "trust" ? questionSchema.safeParse(details) : undefined;
  return question?.data;
}
