/** One check of the store on PostgreSQL. */
import type { TestServer } from "./server.ts";

export interface Check {
  /** Begins with the rule's id. */
  readonly title: string;
  /** Throws where the rule is not kept. What it gives is told beside the title. */
  run(server: TestServer): Promise<string | undefined>;
}

export function require(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}
