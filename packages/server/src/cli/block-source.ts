/** Where a command gets its blocks: calls, exports and streams, the same from a server and from a database opened here. */

import type { ExportLine, Json, ProblemCode } from "@blockyard/kernel";
import { isProblem, type Problem } from "@blockyard/kernel/plain";
import type { CallServer } from "../contract/index.ts";
import type { Imported } from "../import/body-import.ts";
import { CommandError, EXIT } from "./command.ts";

export interface BlockSource {
  readonly call: CallServer;
  /** A conversation's export. Throws a CommandError if there is none. */
  lines(conversation: string): AsyncIterable<ExportLine>;
  raw(conversation: string): AsyncIterable<Uint8Array>;
  ingest(query: Readonly<Record<string, string>>, body: AsyncIterable<Uint8Array>): Promise<Json | Problem>;
  import(body: AsyncIterable<Uint8Array>): Promise<Imported | Problem>;
  close(): Promise<void>;
}

const EXITS: Partial<Record<ProblemCode, number>> = { not_found: EXIT.nothing, invalid: EXIT.usage };

/** The answer, or the problem as a command's failure. A command requests only what the user named. */
export function known<T>(answer: T | Problem): T {
  if (!isProblem(answer)) return answer;
  throw new CommandError(answer.message, EXITS[answer.problem] ?? EXIT.failed);
}
