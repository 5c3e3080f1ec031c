/**
 * How often a notice repeated, as text: "×6", and "(attempt 3 of 10)" for retries with a known limit.
 */

import type { Kind } from "./kind.ts";
import type { Metadata } from "./metadata.ts";

/** Empty if it appeared once. */
export function timesText({ times, extra }: Pick<Metadata<Kind>, "times" | "extra">): string {
  if (times === undefined || times < 2) return "";
  const most = extra?.["maxRetries"];
  return typeof most === "number" ? `(attempt ${times} of ${most})` : `×${times}`;
}
