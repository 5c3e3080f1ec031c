/**
 * `credentials` in the data directory: keys and passwords for the server, one `NAME=value` a line, for users who do not
 * want them in an environment (npm and the shell keep their variables for as long as they live). Only its owner may be
 * able to read it. Environment variables take precedence.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CREDENTIALS_BYTES } from "./limits.ts";

const CREDENTIALS = "credentials";

export function readCredentials(home: string): Readonly<Record<string, string>> {
  const path = join(home, CREDENTIALS);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return {};
  if (!stat.isFile() || stat.size > CREDENTIALS_BYTES)
    throw new Error(`${path} is not a file of at most ${CREDENTIALS_BYTES} bytes`);
  if (process.platform !== "win32" && (stat.mode & 0o077) !== 0)
    throw new Error(`${path} can be read by others: chmod 600 ${path}`);
  const lines = readFileSync(path, "utf8").split(/\r?\n/);
  return Object.fromEntries(lines.flatMap((line, i) => entryOf(line, `${path}:${i + 1}`)));
}

/** The value of a line that is wrong is not repeated: it may be a secret. */
function entryOf(line: string, where: string): readonly (readonly [string, string])[] {
  if (/^\s*(#|$)/.test(line)) return [];
  const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`${where} is not NAME=value`);
  const [, quoted] = /^(?:"(.*)"|'(.*)')$/.exec(value) ?? [];
  return [[name, quoted ?? value.replace(/^'(.*)'$/, "$1")]];
}

/** From now on they count like variables of the environment, for this process alone. */
export function useCredentials(credentials: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(credentials)) process.env[name] ??= value;
}
