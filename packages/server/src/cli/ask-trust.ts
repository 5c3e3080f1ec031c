/**
 * Trust, asked in a terminal: what in the folder acts by itself, and whether that is right. Without a terminal the answer is an
 * option of the command.
 */

import { isProblem, type Json, type Problem } from "@blockyard/kernel";
import { CommandError } from "./command.ts";
import { safeText, tell } from "./terminal.ts";
import type { Yard } from "./yard.ts";

interface TrustQuestion {
  readonly folder: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly reason: string; readonly state: string }[];
}

/** Starts what `start` starts; where trust has to be asked for first, asks, or takes `isTrusted` for the answer. */
export async function withTrust(
  yard: Yard,
  isTrusted: boolean,
  ask: (question: string) => Promise<string | undefined>,
  start: () => Promise<Json | Problem>,
): Promise<Json | Problem> {
  const answer = await start();
  const question = isProblem(answer) ? trustQuestion(answer) : undefined;
  if (!question) return answer;
  const { folder, digest } = question;
  tell(safeText(trustText(question)));
  if (!isTrusted && !process.stdin.isTTY)
    throw new CommandError("not started. Look at these files, then say --trust");
  const said = isTrusted ? "y" : await ask("Trust them as they are? [y/N] ");
  if (!/^y(es)?$/i.test(said?.trim() ?? "")) throw new CommandError("not started");
  const given = await yard.call("trust.allow", { folder, digest });
  return isProblem(given) ? given : start();
}

export function trustText({ folder, files }: TrustQuestion): string {
  const lines = files.map(
    ({ path, reason, state }) => `  ${path}  ${reason}${state === "changed" ? " (changed)" : ""}`,
  );
  return `These files act by themselves when an agent works in ${folder}:\n${lines.join("\n")}`;
}

function trustQuestion({ details }: Problem): TrustQuestion | undefined {
  return details?.["ask"] === "trust" ? (details as unknown as TrustQuestion) : undefined;
}
