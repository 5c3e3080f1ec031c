/** One check of the store on PostgreSQL. */
import { isProblem } from "@blockyard/kernel";
import type { Check } from "../checks.ts";
import type { TestServer } from "./server.ts";

export type StoreCheck = Check<TestServer, string | undefined>;

export function known<T>(answer: T): Exclude<T, { readonly problem: unknown }> {
  if (isProblem(answer)) throw new Error(`${answer.problem}: ${answer.message}`);
  return answer as Exclude<T, { readonly problem: unknown }>;
}
