/**
 * Structured logs: one JSON object per line on stderr. Values are data, never markup: control characters are escaped by
 * JSON, and neither keys that name a secret nor values that look like one are ever printed.
 */

import { LOGGED_CHARS } from "./limits.ts";
import { printableJson } from "./printable-json.ts";
import { redactText } from "./redact.ts";

type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

const SECRET = /token|secret|cookie|authorization|password|api.?key/i;
/** Our own tokens and cookies are 43 such characters; providers' keys begin with sk-. */
const SECRET_VALUE = /[A-Za-z0-9_-]{43,}|\bsk-[A-Za-z0-9_-]{8,}/g;
/** Others are looked for where something is long enough, or named: most lines are a sentence and a path. */
const MAY_HOLD_MORE = /[A-Za-z0-9_-]{16}|:\/\/|--\w|[:=@]\s{0,3}\S{8}/;

export function jsonLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    const safe: Record<string, unknown> = { at: new Date(now()).toISOString(), level, event };
    for (const [key, value] of Object.entries(fields))
      safe[key] = SECRET.test(key) ? "[hidden]" : shown(value);
    write(`${printableJson(safe)}\n`);
  };
}

function shown(value: LogFields[string]): LogFields[string] {
  if (typeof value !== "string") return value;
  const known = value.slice(0, LOGGED_CHARS).replace(SECRET_VALUE, "[hidden]");
  return MAY_HOLD_MORE.test(known) ? redactText(known, () => undefined) : known;
}
