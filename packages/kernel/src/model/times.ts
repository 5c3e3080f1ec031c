/** A repeat count in words: "×6", and "(attempt 3 of 10)" for retries whose limit is known. */

import type { Kind } from "./kind.ts";
import type { Metadata } from "./metadata.ts";

/** Empty where it was said once. */
export function timesText({ times, extra }: Pick<Metadata<Kind>, "times" | "extra">): string {
  if (times === undefined || times < 2) return "";
  const most = extra?.["maxRetries"];
  return typeof most === "number" ? `(attempt ${times} of ${most})` : `×${times}`;
}
