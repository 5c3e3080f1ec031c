/** Shapes of secrets, one each, inside of a text that stays; and long words that are none. */
import { expect, it } from "vitest";
import { redactText } from "./redact.ts";

const hex = (chars: number) => "0123456789abcdef".repeat(20).slice(3, 3 + chars);
const word = (chars: number) => "aB3dE5gH7jK9mN2pQ4sT6vW8xY".repeat(10).slice(0, chars);

/** Put together here, so that no scanner takes this file for a leak. */
const SECRETS: readonly [string, string][] = [
  ["basic auth", `Authorization: Basic ${Buffer.from("ann:hunter2hunter2").toString("base64")}`],
  ["cookie", `Cookie: session=${word(32)}; theme=dark`],
  ["cookie", `set-cookie: sid=${word(20)}`],
  ["SendGrid", `SG.${word(22)}.${word(43)}`],
  ["DigitalOcean", `dop_v1_${hex(64)}`],
  ["Google OAuth secret", `GOCSPX-${word(28)}`],
  ["Google OAuth token", `ya29.${word(60)}`],
  ["Azure storage", `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${word(86)}==`],
  ["Azure shared access", `https://a.blob.core.windows.net/c?sv=2024&sig=${word(40)}%3D`],
  ["Azure client secret", `abc8Q~${word(34)}`],
  ["Slack webhook", `https://hooks.slack.com/services/T${hex(8)}/B${hex(8)}/${word(24)}`],
  ["Discord webhook", `https://discord.com/api/webhooks/123456789012345678/${word(60)}`],
  ["webhook secret", `whsec_${word(32)}`],
  ["Mailgun", `key-${hex(32)}`],
  ["Tailscale", `tskey-auth-${word(12)}-${word(32)}`],
  ["PyPI", `pypi-${word(80)}`],
  ["a key of nobody knows what", word(40)],
];

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
