/** One check of the store on PostgreSQL. */
import { isProblem } from "@blockyard/kernel";
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

export function known<T>(answer: T): Exclude<T, { readonly problem: unknown }> {
  if (isProblem(answer)) throw new Error(`${answer.problem}: ${answer.message}`);
  return answer as Exclude<T, { readonly problem: unknown }>;
}
