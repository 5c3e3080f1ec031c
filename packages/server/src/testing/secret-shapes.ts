/** Texts that hold a secret, one of each shape. Put together here, so that no scanner takes this file for a leak. Only tests use it. */

export const hex = (chars: number) => "0123456789abcdef".repeat(20).slice(3, 3 + chars);
export const word = (chars: number) => "aB3dE5gH7jK9mN2pQ4sT6vW8xY".repeat(10).slice(0, chars);

/** What it is, and a text in which it stands. */
const SECRETS: readonly (readonly [string, string])[] = [
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

/** … and those that are more than a word, or older. */
export const MORE_SECRETS: readonly (readonly [string, string])[] = [
  ...SECRETS,
  ["GitHub", `ghp_${"a1B2".repeat(9)}`],
  ["Anthropic", `sk-ant-${word(40)}`],
  ["bearer", `authorization: Bearer ${word(50)}`],
  ["password in a URL", "postgres://ann:correct-horse-9@db.example.org/x"],
  ["named", `API_KEY=${word(20)}`],
  ["named, in quotes", 'password: "correct horse battery"'],
  ["named, on the next line", `client_secret:\n${word(30)}`],
  ["named, a key of an application", `SECRET_KEY_BASE=${hex(40)}`],
  ["named, a private key", `private_key: ${word(20)}`],
  ["named, a passphrase", "passphrase = correct-horse-battery"],
  ["named, as variables are", `DEPLOY_KEY=${hex(32)}`],
  ["password in a URL without a name", "redis://:correct-horse-9@cache.example.org/0"],
  ["password with an @ in a URL", "postgres://ann:p@ss-word-9@db.example.org/x"],
  ["token as the name in a URL", `https://${hex(40)}@git.example.org/x`],
  ["token in a query", `https://maps.example.org/v1?key=${hex(39)}`],
  ["signature in a query", `https://b.example.org/x?X-Amz-Signature=${hex(64)}`],
  ["password of curl", "curl -u ann:correct-horse-9 https://example.org"],
  ["password as an option", "deploy --password correct-horse-9"],
  ["token as an option", `deploy --token ${hex(32)}`],
  ["private key in base64", Buffer.from(`-----BEGIN PRIVATE KEY-----\n${word(80)}`).toString("base64")],
  ["Groq", `gsk_${hex(52)}`],
  ["Databricks", `dapi${hex(32)}`],
  ["RubyGems", `rubygems_${hex(48)}`],
  ["Slack app", `xapp-1-${hex(40)}`],
  [
    "private key",
    `-----BEGIN RSA PRIVATE KEY-----\n${`${word(64)}\n`.repeat(12)}-----END RSA PRIVATE KEY-----\n`,
  ],
];
