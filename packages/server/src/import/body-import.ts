/** What every kind of import is: lines in, and what came of them out. How lines come is import-stream.ts' business. */

import type { Exact, Problem } from "@blockyard/kernel";
import { z } from "zod";

/** The answer of an import, here and through the server. */
export const importedSchema = z.object({
  conversation: z.string(),
  title: z.string(),
  added: z.number().int().describe("Blocks that were not there before"),
  blocks: z.number().int(),
  raw_bytes: z
    .number()
    .int()
    .exactOptional()
    .describe("Of a log: how many of its first bytes are stored unchanged"),
});

export type Imported = Exact<z.infer<typeof importedSchema>>;

/** One kind of body, line by line. */
export interface BodyImport {
  /** Takes a line; a problem ends the import. */
  line(line: Readonly<Record<string, unknown>>): Promise<Problem | undefined>;
  /** The body is over; `line` has seen everything. */
  end(): Promise<Imported | Problem>;
}
