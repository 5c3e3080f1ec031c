/** The content of a log line. */
import { describe, expect, it } from "vitest";
import { MORE_SECRETS } from "../testing/secret-shapes.ts";
import { jsonLog, type LogFields } from "./log.ts";
import { redactText } from "./redact.ts";

function line(fields: LogFields, event = "event"): string {
  let text = "";
  jsonLog(
    (written) => {
      text += written;
    },
    () => 0,
  )("info", event, fields);
  return text;
}

describe("the log", () => {
  it("[AC19] is one JSON object per line", () => {
    expect(JSON.parse(line({ a: 1, b: "x\ny", c: true, d: null }))).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      level: "info",
      event: "event",
      a: 1,
      b: "x\ny",
      c: true,
      d: null,
    });
    expect(line({ b: "x\ny\r\u2028z" }).trim().split("\n")).toHaveLength(1);
  });

  const token = "Zq3_5vQ9yR-1bM7kXc2LwPzA0sDfGhJkUiO8tNeE4Wr";
  it.each([
    { token },
    { path: `/x/${token}` },
    { error: `Error: bad ${token} here\n    at x` },
    { why: `token=${token}` },
    { authorization: "Bearer x" },
    { cookie: "blockyard-1=x" },
    { apiKey: "x" },
    { message: "key sk-ant-api03-abcdefghijkl" },
    { url: `http://127.0.0.1:1/?token=${token}` },
  ])("[AC19] never holds a secret: %j", (fields) => {
    const written = line(fields as LogFields);
    expect(written).not.toContain(token);
    expect(written).not.toContain("abcdefghijkl");
    expect(written).toMatch(/\[hidden\]|\[redacted /);
  });

  it.each(MORE_SECRETS)("[AC19] never holds %s", (_, text) => {
    const secrets: string[] = [];
    redactText(text, (_name, secret) => secrets.push(secret));
    expect(secrets.length).toBeGreaterThan(0);
    const written = JSON.parse(line({ error: `cannot connect: ${text}\n    at x` })) as { error: string };
    for (const secret of secrets) expect(written.error).not.toContain(secret);
    expect(written.error).toContain("cannot connect");
  });

  it("[AC19] never holds a control character that a terminal would obey", () => {
    const hostile = "\x1b[2J\x9b31m\x07\x00\u202e\u2066\u200f\x7f\r\u061c\u2028\u200b\ufeff\u{e0041}";
    const written = line({ path: hostile }, hostile);
    expect([...written.trimEnd()].filter((char) => /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(char))).toEqual([]);
    expect((JSON.parse(written) as { path: string }).path).toBe(hostile);
  });

  it("[AC19] is bounded", () => {
    expect(line({ path: "x ".repeat(1_000_000) }).length).toBeLessThan(5_000);
  });
});
