/**
 * The certificate that the server shows and the key to it, read before anything else is opened: what does not fit together
 * is a sentence, not a fault. The names in it are names of this server, since nobody else can show it.
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { OptionError } from "./config.ts";

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Names and addresses that it was issued for, as they appear in a Host header; no wildcards. */
  readonly names: readonly string[];
}

export function readCertificate(files: { readonly cert: string; readonly key: string }): Certificate {
  const cert = read("--cert", files.cert);
  const key = read("--key", files.key);
  try {
    createSecureContext({ cert, key });
    return { cert, key, names: namesIn(new X509Certificate(cert).subjectAltName ?? "") };
  } catch (error) {
    const { reason, message } = error as Error & { readonly reason?: string };
    throw new OptionError(
      `${files.cert} and ${files.key} are not a certificate and its key as PEM (${reason ?? message})`,
    );
  }
}

function read(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new OptionError(`cannot read ${option} ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** From `DNS:yard.example.org, IP Address:10.0.0.5`. Any other notation is left out. */
function namesIn(alternatives: string): string[] {
  return alternatives.split(", ").flatMap((each) => {
    const name = /^DNS:([a-z0-9.-]+)$/i.exec(each)?.[1];
    const address = /^IP Address:([0-9a-f.:]+)$/i.exec(each)?.[1];
    if (address?.includes(":")) return [`[${new URL(`http://[${address}]`).hostname.slice(1, -1)}]`];
    return (name ?? address) === undefined ? [] : [(name ?? address ?? "").toLowerCase()];
  });
}
