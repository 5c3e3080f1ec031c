/** Shapes of secrets, one each, inside a text that stays; and long words that are none. */
import type { ExportLine } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { hex, MORE_SECRETS, word } from "../testing/secret-shapes.ts";
import { redactLine, redactText } from "./redact.ts";

it.each(MORE_SECRETS)("[E20] takes out %s: %s", (_, text) => {
  const found: string[] = [];
  const clean = redactText(`before ${text} after`, (_name, secret) => found.push(secret));
  expect(found.length).toBeGreaterThan(0);
  for (const secret of found) expect(clean).not.toContain(secret);
  expect(clean).toMatch(
    /^before [\s\S]*\[redacted [^\]]+\][\s\S]* after$|^before [\s\S]*\[redacted [^\]]+\]$/,
  );
  expect(redactText(clean, () => expect.unreachable("a second time"))).toBe(clean);
});

it.each([
  "a basic understanding of authentication headers",
  `commit ${hex(40)}`,
  `sha256 ${hex(64)}`,
  "packages/server/src/turns/loop/conversation-context.ts",
  "https://example.org/a/very/long/path/That/Has2/Many/Parts/and/Words",
  "thisIsAVeryLongCamelCaseFunctionNameForThings2",
  "550e8400-e29b-41d4-a716-446655440000",
  "SOME_VERY_LONG_CONSTANT_NAME_OF_VERSION_2",
  "The cookie jar is on the table: take one.",
  "PWD=/home/ann/projects/shop",
  "docker run -u 1000:1000 image",
  "usage: deploy --token <token> --password $PASSWORD",
  "PRIMARY_KEY: string",
  "primary_key = department_identifier",
  "https://ann@git.example.org/x",
  "https://example.org/?page=2&code=404",
])("[E20] leaves %s", (text) => expect(redactText(text, () => expect.unreachable())).toBe(text));

it("[E20] removes secrets from field names, and keeps as many fields", () => {
  const line = {
    type: "block",
    block_id: "c/a/1",
    content: "",
    metadata: { input: { [word(40)]: 1, [word(41)]: 2, plain: 3 } },
  };
  const clean = redactLine(line as unknown as ExportLine, () => undefined) as unknown as typeof line;
  expect(Object.values(clean.metadata.input)).toEqual([1, 2, 3]);
  expect(JSON.stringify(clean)).not.toContain(word(24));
});
