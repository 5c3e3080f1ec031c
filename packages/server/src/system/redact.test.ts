/** Shapes of secrets, one each, inside of a text that stays; and long words that are none. */
import { expect, it } from "vitest";
import { hex, SECRETS } from "../testing/secret-shapes.ts";
import { redactText } from "./redact.ts";

it.each(SECRETS)("[E20] takes out %s: %s", (_, text) => {
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
])("[E20] leaves %s", (text) => expect(redactText(text, () => expect.unreachable())).toBe(text));
