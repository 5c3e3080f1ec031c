/**
 * Trust: the owner's yes to the files of a folder that act by themselves (acting-files.ts), file by file and as they were when
 * they were shown. One that is new or has changed is asked for again; one that is gone is not.
 *
 * Kept in the data directory: it is about folders of this machine.
 */

import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Problem, problem } from "@blockyard/kernel";
import { writePrivate } from "../system/private-file.ts";
import { actingFiles } from "./acting-files.ts";

export interface Shown {
  readonly folder: string;
  readonly files: readonly {
    readonly path: string;
    readonly reason: string;
    readonly state: "trusted" | "new" | "changed";
  }[];
  /** Of all that is shown: trust is given to exactly this. */
  readonly digest: string;
}

interface Kept {
  readonly by: string;
  readonly at: number;
  /** By path, what each held. */
  readonly files: Readonly<Record<string, string>>;
}

const MAX_FOLDERS = 1_000;
const NAMED_FILES = 5;

export class Trust {
  readonly #file: string;
  readonly #root: string;
  readonly #now: () => number;

  constructor(home: string, root: string, now: () => number) {
    this.#file = join(home, "trust.json");
    this.#root = real(root);
    this.#now = now;
  }

  show(folder: string = this.#root): Shown {
    const at = real(folder);
    const trusted = this.#read()[at]?.files ?? {};
    const found = actingFiles(this.#root, at);
    const files = found.map(({ path, reason, digest }) => {
      const known = trusted[path];
      const state = known === digest ? "trusted" : known === undefined ? "new" : "changed";
      return { path, reason, state } as const;
    });
    return { folder: at, files, digest: digestOf(at, found) };
  }

  /** The question, where there is one. */
  question(folder: string | undefined): Problem | undefined {
    const shown = this.show(folder);
    const open = shown.files.filter(({ state }) => state !== "trusted");
    if (open.length === 0) return undefined;
    const names = open.slice(0, NAMED_FILES).map(({ path }) => path);
    const more = open.length > names.length ? ` and ${open.length - names.length} more` : "";
    const message = `${shown.folder} has files that act by themselves when an agent works there: ${names.join(", ")}${more}. Look at them, then trust them (trust.allow)`;
    return problem("conflict", message, { ask: "trust", ...shown, files: open });
  }

  /** Trusts what was shown, if it is still the same. */
  allow(by: string, folder: string, digest: string): Problem | undefined {
    const at = real(folder);
    const found = actingFiles(this.#root, at);
    if (digestOf(at, found) !== digest)
      return problem("conflict", "a file has changed since it was shown; look again (trust.show)", {
        folder: at,
      });
    const files = Object.fromEntries(found.map(({ path, digest: each }) => [path, each]));
    const { [at]: _, ...others } = this.#read();
    const kept = Object.entries({ ...others, [at]: { by, at: this.#now(), files } }).slice(-MAX_FOLDERS);
    writePrivate(this.#file, JSON.stringify(Object.fromEntries(kept), null, 1));
    return undefined;
  }

  revoke(folder: string): boolean {
    const { [real(folder)]: known, ...others } = this.#read();
    if (known) writePrivate(this.#file, JSON.stringify(others, null, 1));
    return known !== undefined;
  }

  /** A file that cannot be read trusts nothing. */
  #read(): Readonly<Record<string, Kept>> {
    try {
      return JSON.parse(readFileSync(this.#file, "utf8")) as Record<string, Kept>;
    } catch {
      return {};
    }
  }
}

function digestOf(
  folder: string,
  files: readonly { readonly path: string; readonly digest: string }[],
): string {
  const parts = [folder, ...files.map(({ path, digest }) => [path, digest])];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
