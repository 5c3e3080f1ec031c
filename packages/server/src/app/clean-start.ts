/**
 * A start that leaves no secret where other programs can read it. What a process is started with stands in
 * `/proc/<pid>/environ` for as long as it lives, for every program of the same user: agents too. Deleting a variable does not
 * change that. So the server, when it was started with more than the everyday variables, starts itself once more in its own
 * place (same process, same terminal, same signals) without them.
 *
 * The rest goes over sealed: in a file that is gone once it is read, under a key that is then good for nothing. No secret
 * is ever on the disk, in an argument or in an environment. (Node closes every file but the three standard ones when it is
 * replaced, so there is no descriptor to inherit.)
 *
 * Where a process cannot be replaced (Windows), everything stays as it was started.
 */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isPublic } from "../processes/child-env.ts";

const HANDOVER = "BLOCKYARD_HANDOVER";
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

type Variables = Record<string, string>;

/** Returns in the process that continues. In the first one it does not return. */
export function startClean(): void {
  const handover = process.env[HANDOVER];
  if (handover !== undefined) return takeOver(handover);
  const { kept, handed } = split(process.env);
  // A parent that started this one with an IPC channel would lose it.
  const isTalking = process.env["NODE_CHANNEL_FD"] !== undefined;
  if (Object.keys(handed).length === 0 || isTalking || process.execve === undefined) return;
  try {
    kept[HANDOVER] = seal(handed);
  } catch (error) {
    process.stderr.write(
      `blockyard: could not hide the start environment from other processes: ${(error as Error).message}\n`,
    );
    return;
  }
  const { execPath, execArgv, argv } = process;
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], kept);
}

function split(env: NodeJS.ProcessEnv): { readonly kept: Variables; readonly handed: Variables } {
  const kept: Variables = {};
  const handed: Variables = {};
  for (const [name, value = ""] of Object.entries(env)) (isPublic(name) ? kept : handed)[name] = value;
  return { kept, handed };
}

/** The file's path, and the key. */
function seal(variables: Variables): string {
  const key = randomBytes(32);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(variables)), cipher.final()]);
  const path = join(mkdtempSync(join(tmpdir(), "blockyard-start-")), "handover");
  writeFileSync(path, Buffer.concat([iv, cipher.getAuthTag(), sealed]), { mode: 0o600, flag: "wx" });
  return `${key.toString("base64url")}:${path}`;
}

/** Only in memory: values set now do not show in `/proc`. */
function takeOver(handover: string): void {
  delete process.env[HANDOVER];
  const colon = handover.indexOf(":");
  const path = handover.slice(colon + 1);
  try {
    const bytes = readFileSync(path);
    rmSync(dirname(path), { recursive: true });
    Object.assign(process.env, unseal(bytes, Buffer.from(handover.slice(0, colon), "base64url")));
  } catch (error) {
    process.stderr.write(`blockyard: startup was interrupted, start it again: ${(error as Error).message}\n`);
    process.exit(1);
  }
}

function unseal(bytes: Buffer, key: Buffer): Variables {
  const opener = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
  opener.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = Buffer.concat([opener.update(bytes.subarray(IV_BYTES + TAG_BYTES)), opener.final()]);
  return JSON.parse(text.toString("utf8")) as Variables;
}
