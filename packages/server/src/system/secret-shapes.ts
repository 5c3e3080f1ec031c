/**
 * The shapes of secrets: keys and tokens as their makers write them, passwords by the names beside them, and long words that look as
 * if chance had made them. What takes them out is redact.ts.
 */
import { SECRET_CHARS } from "./limits.ts";

export interface Shape {
  readonly name: string;
  readonly pattern: RegExp;
  /** Where the pattern finds more than secrets. */
  readonly isSecret?: (value: string) => boolean;
}

/** The text before a named secret. */
const NAMED =
  /(?:(?:api|access|secret|private|encryption|signing|auth|master)[_-]?key(?:[_-]?base)?|secret|token|passw(?:or)?d|passphrase|(?:db|database|user|admin|root|smtp|mysql|pg|redis|ftp|mail|login|my)[_-]?pass|\b_auth|authorization|client[_-]?secret)["'\\]{0,3}\s{0,3}[:=]\s{0,3}/
    .source;

/**
 * Shapes that only a secret has. The first match wins. The group `secret`, if there is one, is removed. Text that
 * begins like a secret and is none is read only up to the next such beginning, so that a text of only beginnings is
 * read once.
 */
const CERTAIN: readonly Shape[] = [
  {
    name: "private key",
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,20000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  },
  { name: "Anthropic key", pattern: /\bsk-ant-[\w-]{16,200}/g },
  { name: "OpenAI key", pattern: /\bsk-(?:proj-|svcacct-)?[\w-]{20,200}/g },
  { name: "GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255})/g },
  { name: "GitLab token", pattern: /\bglpat-[\w-]{16,255}/g },
  { name: "AWS key", pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { name: "Google key", pattern: /\bAIza[\w-]{30,60}/g },
  { name: "Slack token", pattern: /\bx(?:ox[abeprs]|app)-[\w-]{10,255}/g },
  { name: "Stripe key", pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g },
  { name: "npm token", pattern: /\bnpm_[A-Za-z0-9]{30,64}/g },
  { name: "Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{20,64}/g },
  { name: "JSON web token", pattern: /\beyJ(?:\w|-(?!eyJ)){8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}/g },
  { name: "SendGrid key", pattern: /\bSG\.[\w-]{16,64}\.[\w-]{16,128}/g },
  { name: "DigitalOcean token", pattern: /\bdo[opr]_v1_[a-f0-9]{32,128}/g },
  { name: "Google OAuth secret", pattern: /\bGOCSPX-[\w-]{16,128}/g },
  { name: "Google OAuth token", pattern: /\bya29\.[\w.-]{16,2000}/g },
  { name: "Google refresh token", pattern: /\b1\/\/0[\w-]{20,500}/g },
  {
    name: "Azure key",
    pattern: /\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=(?<secret>[\w%+/=-]{20,1000})/g,
  },
  { name: "Azure secret", pattern: /\b[\w~.-]{3}\dQ~[\w~.-]{31,34}/g },
  {
    name: "webhook",
    pattern:
      /https:\/\/(?:hooks\.slack\.com\/(?:services|workflows|triggers)|(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/webhooks|\w{1,60}\.webhook\.office\.com\/webhookb2)\/(?<secret>[\w/@.-]{8,500})/g,
  },
  { name: "webhook secret", pattern: /\bwhsec_[A-Za-z0-9+/=_-]{16,255}/g },
  { name: "Mailgun key", pattern: /\b(?:key|pubkey)-[a-f0-9]{32}\b/g },
  { name: "Mailchimp key", pattern: /\b[a-f0-9]{32}-us\d{1,2}\b/g },
  { name: "Tailscale key", pattern: /\btskey-[\w-]{10,255}/g },
  { name: "PyPI token", pattern: /\bpypi-[\w-]{16,500}/g },
  { name: "Twilio key", pattern: /\bSK[a-f0-9]{32}\b/g },
  { name: "Shopify token", pattern: /\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}/g },
  { name: "Telegram token", pattern: /\b\d{8,10}:AA[\w-]{32,36}/g },
  { name: "Vault token", pattern: /\bhv[sbr]\.[\w-]{20,300}/g },
  { name: "Doppler token", pattern: /\bdp\.(?:pt|st|ct|sa)\.[\w.-]{20,200}/g },
  { name: "Linear key", pattern: /\blin_(?:api|oauth)_\w{20,100}/g },
  { name: "age key", pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{40,80}/g },
  {
    // As Kubernetes and CI systems keep them.
    name: "private key",
    pattern: /\bLS0tLS1CRUdJTi[A-Za-z0-9+/]{20,20000}={0,2}/g,
  },
  {
    name: "token",
    pattern:
      /\b(?:gsk_|r8_|pplx-|dckr_pat_|pscale_tkn_|sbp_|figd_|ntn_|rubygems_|glsa_|sntry[su]_|nfp_|xkeysib-|PMAK-|NRAK-|ATATT3|gl(?:rt|dt|cbt|ft)-|sq0(?:atp|csp)-|dapi(?=[a-f0-9]{32}))[\w=-]{16,500}/g,
  },
];

/** Shapes that other texts may have, too: a match is checked further, or counts only after its name. */
const LIKELY: readonly Shape[] = [
  {
    name: "basic auth",
    pattern: /\b[Bb]asic\s+(?<secret>[A-Za-z0-9+/_-]{8,2000}={0,2})/g,
    isSecret: isBasic,
  },
  {
    name: "cookie",
    pattern:
      /\b(?:set-)?cookie["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(?<secret>[\w.!#$%&'*+^`|~-]{1,100}=[^\r\n"]{4,4000})/gi,
  },
  {
    name: "password in a URL",
    // Up to the last @ in front of the path: a password may have some.
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}:(?<secret>[^\s/"'<>]{1,200})@/g,
  },
  {
    name: "token in a URL",
    pattern: /\bhttps?:\/\/(?<secret>[^\s/:@]{20,200})@/g,
    isSecret: (value) => /\d/.test(value),
  },
  {
    name: "token in a URL",
    pattern:
      /[?&](?:key|auth|jwt|session|signature|code|X-Amz-(?:Signature|Security-Token|Credential))=(?<secret>[^\s&#"'\\<>]{16,4000})/gi,
  },
  {
    name: "password of a command",
    pattern: /(?:^|\s)(?:-u|--user)[ =]["']?[^\s:"'\\]{1,100}:(?<secret>[^\s"'\\]{4,200})/g,
    isSecret: (value) => !/^(\d+$|\[redacted)/.test(value),
  },
  {
    name: "password of a command",
    pattern:
      /--(?:password|passwd|passphrase|token|secret|api-key|access-token|auth-token|client-secret) {1,3}["']?(?<secret>[^\s"'\\<[${-][^\s"'\\]{7,4000})/g,
  },
  {
    name: "named secret",
    pattern:
      /\b[A-Z][A-Z0-9_]{1,60}_(?:KEY|PASS|PAT|AUTH|CREDENTIAL)["']?\s?[=:]\s?["']?(?<secret>[^\s"'\\,;&/$<{([][^\s"'\\,;&]{7,4000})/g,
  },
  { name: "bearer token", pattern: /\b[Bb]earer\s+(?<secret>[\w.~+/-]{16,4000}=*)/g },
  {
    // Up to its own quotation mark, as often escaped as that one; or to the end of a text that was cut.
    name: "named secret",
    pattern: new RegExp(
      `${NAMED}(\\\\{0,3}["'\`])(?<secret>(?:(?!(?<!\\\\)\\1)[^\\r\\n]){3,4000})(?:\\1|$)`,
      "gi",
    ),
    isSecret: isNamedSecret,
  },
  {
    name: "named secret",
    pattern: new RegExp(`${NAMED}["'\`\\\\]{0,3}(?<secret>[^\\s"'\\\\,;&]{8,4000})`, "gi"),
  },
  // The rest: one long word that no person has thought of.
  {
    name: "random text",
    pattern: /(?<![\w+/.-])[A-Za-z0-9_+/-]{24,200}={0,2}(?![\w+/.-])/g,
    isSecret: isRandom,
  },
];

export const SHAPES: readonly Shape[] = [...CERTAIN, ...LIKELY];

/** For values that stay unchanged unless they certainly are secrets: ids. */
export const CERTAIN_SHAPES = CERTAIN;

/** `Basic` is a word too: a name and a password must follow. */
function isBasic(value: string): boolean {
  return /^[\x20-\x7e\u00a0-\uffff]*:/.test(Buffer.from(value, "base64").toString("utf8"));
}

const RANDOM_BITS = 4;

/**
 * Whether a word looks random: its characters are spread wide, and upper case, lower case and digits follow each other
 * without order. Hashes and ids in hexadecimal are kept: they name commits, files and blocks everywhere.
 */
function isRandom(value: string): boolean {
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/\d.*\d/.test(value)) return false;
  if (value.split(/[/_-]/).filter((part) => part.length < 16).length > 3) return false; // a path, or words
  const classes = [...value].map((each) =>
    /\d/.test(each) ? 0 : /[a-z]/.test(each) ? 1 : /[A-Z]/.test(each) ? 2 : 3,
  );
  const changes = classes.filter((each, i) => i > 0 && each !== classes[i - 1]).length;
  if (changes < value.length / 3) return false;
  const counts = Map.groupBy(value, (each) => each);
  let bits = 0;
  for (const { length } of counts.values())
    bits -= (length / value.length) * Math.log2(length / value.length);
  return bits >= RANDOM_BITS;
}

/** Not a short word, as in `"token": "none"`; nor the rest of a value whose secret was removed already. */
export function isNamedSecret(value: string): boolean {
  const rest = value.replaceAll(/\[redacted [^\]]{1,40}\]/g, "").trim();
  if (rest !== value.trim()) return !/^(bearer|basic|)$/i.test(rest);
  return rest.length >= SECRET_CHARS || /\s/.test(rest);
}
