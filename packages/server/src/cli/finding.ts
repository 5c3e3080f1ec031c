/** A finding of `blockyard doctor`: one line, with its fix if there is something to fix. */

export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  readonly fix?: string;
}

/** What a program printed, as one short line without control characters. */
export function plain(text: string, most = 120): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, most);
}
