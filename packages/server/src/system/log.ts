/**
 * Structured logs: one JSON object per line on stderr. Values are data, never markup: control characters are escaped by
 * JSON, and neither keys that name a secret nor values that look like one are ever printed.
 */

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

const SECRET = /token|secret|cookie|authorization|password|api.?key/i;
/** Our own tokens and cookies are 43 such characters; providers' keys begin with sk-. */
const SECRET_VALUE = /[A-Za-z0-9_-]{43,}|\bsk-[A-Za-z0-9_-]{8,}/g;
const MAX_VALUE = 4_000;

export function jsonLog(write: (line: string) => void, now: () => number): Log {
  return (level, event, fields = {}) => {
    const safe: Record<string, unknown> = { at: new Date(now()).toISOString(), level, event };
    for (const [key, value] of Object.entries(fields))
      safe[key] = SECRET.test(key) ? "[hidden]" : shown(value);
    write(`${escapeControls(JSON.stringify(safe))}\n`);
  };
}

function shown(value: LogFields[string]): LogFields[string] {
  return typeof value === "string" ? value.slice(0, MAX_VALUE).replace(SECRET_VALUE, "[hidden]") : value;
}

/** JSON escapes C0 only: C1 controls and the bidirectional ones can still fool a terminal. */
function escapeControls(line: string): string {
  return line.replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
