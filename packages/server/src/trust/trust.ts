/**
 * Trust: the owner's yes to the files of a folder that act by themselves (acting-files.ts), file by file and as they were when
 * they were shown. One that is new or has changed is asked for again; one that is gone is not.
 *
 * Kept in the data directory: it is about folders of this machine.
 */

import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { type Problem, problem } from "@blockyard/kernel";
import { writePrivate } from "../system/private-file.ts";
import { actingFiles } from "./acting-files.ts";
import { NAMED_FILES, TRUSTED_FOLDERS } from "./limits.ts";
import { type KeptRules, type OwnRules, restOf } from "./own-rules.ts";

interface Shown {
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
  /** By path, what the owner has had added to it by an agent since. */
  readonly own?: Readonly<Record<string, OwnRules>>;
}

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
    const { files: trusted = {}, own = {} } = this.#read()[at] ?? {};
    const found = actingFiles(this.#root, at);
    const files = found.map(({ path, reason, digest }) => {
      const known = trusted[path];
      const isTrusted = known === digest || isOwnChange(join(this.#root, path), own[path]);
      const state = isTrusted ? "trusted" : known === undefined ? "new" : "changed";
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
    const message = `agents that work in ${shown.folder} run or follow these files: ${names.join(", ")}${more}. Review them, then trust them (trust.allow)`;
    return problem("conflict", message, { ask: "trust", ...shown, files: open });
  }

  /**
   * The owner has allowed rules that the agent is about to keep in a file of this folder. Called before the agent is told, so that
   * what the file holds now is what was trusted; where something is not, these rules change nothing about that.
   */
  keeps(by: string, folder: string, { file, rules }: KeptRules): void {
    if (this.question(folder) !== undefined) return;
    const at = real(folder);
    const path = relative(this.#root, join(at, file));
    const all = this.#read();
    const known = all[at] ?? { by, at: this.#now(), files: {} };
    const before = known.own?.[path];
    const rest = before?.rest ?? restOf(join(this.#root, path), []);
    if (rest === undefined) return;
    const added = { rules: [...new Set([...(before?.rules ?? []), ...rules])], rest };
    this.#keep(at, { ...known, own: { ...known.own, [path]: added } }, all);
  }

  /** Trusts what was shown, if it is still the same. */
  allow(by: string, folder: string, digest: string): Problem | undefined {
    const at = real(folder);
    const found = actingFiles(this.#root, at);
    if (digestOf(at, found) !== digest)
      return problem("conflict", "a file has changed since it was shown; review it again (trust.show)", {
        folder: at,
      });
    const files = Object.fromEntries(found.map(({ path, digest: each }) => [path, each]));
    this.#keep(at, { by, at: this.#now(), files }, this.#read());
    return undefined;
  }

  #keep(folder: string, kept: Kept, all: Readonly<Record<string, Kept>>): void {
    const { [folder]: _, ...others } = all;
    const newest = Object.entries({ ...others, [folder]: kept }).slice(-TRUSTED_FOLDERS);
    writePrivate(this.#file, JSON.stringify(Object.fromEntries(newest), null, 1));
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

/** Whether a file differs from what was trusted by nothing but rules that the owner has allowed. */
function isOwnChange(path: string, own: OwnRules | undefined): boolean {
  return own !== undefined && restOf(path, own.rules) === own.rest;
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
