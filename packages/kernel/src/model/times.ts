/**
 * How often something was said, in words: "×6", and "×3 of 10" for retries whose limit is known.
 */

import type { JsonObject } from "./json.ts";

/** Empty where it was said once. */
export function timesText(metadata: { readonly [key: string]: unknown }): string {
  const times = metadata["times"];
  if (typeof times !== "number" || times < 2) return "";
  const most = (metadata["extra"] as JsonObject | undefined)?.["maxRetries"];
  return `×${times}${typeof most === "number" ? ` of ${most}` : ""}`;
}
