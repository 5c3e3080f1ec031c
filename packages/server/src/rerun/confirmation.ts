/**
 * Confirmations: what the owner has seen and agreed to, bound to exactly that. One is good for one use, by the one who
 * asked for it, within a minute, for the same command in the same folder of the same version of the same block.
 */

import { createHash, randomBytes } from "node:crypto";
import { type Env, type Problem, problem } from "@blockyard/kernel";
import { CONFIRM_MS, MAX_OPEN_CONFIRMATIONS } from "./limits.ts";

/** The subject of the confirmation. */
export interface Subject {
  readonly by: string;
  readonly block: string;
  readonly version: number;
  readonly command: string;
  /** As the block says, and where that really is. */
  readonly cwd: string;
  readonly folder: string;
  /** The folder that was named instead of the block's, where one was. */
  readonly chosen?: string | undefined;
  /** How it would be confined, in words; and whether the network was requested. */
  readonly sandbox: string;
  readonly network?: boolean | undefined;
}

/** The owner's options for one run. */
export interface RunWish {
  readonly chosen?: string | undefined;
  readonly network?: boolean | undefined;
}

interface Open {
  readonly hash: string;
  /** Of the clock that never jumps. */
  readonly until: number;
  readonly wish: RunWish;
}

export class Confirmations {
  readonly #env: Env;
  readonly #open = new Map<string, Open>();

  constructor(env: Env) {
    this.#env = env;
  }

  make(subject: Subject): { readonly confirmation: string; readonly expiresAt: number } {
    const confirmation = randomBytes(24).toString("base64url");
    this.#open.set(confirmation, {
      hash: hashOf(subject),
      until: this.#env.monotonic() + CONFIRM_MS,
      wish: { chosen: subject.chosen, network: subject.network },
    });
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_OPEN_CONFIRMATIONS) break;
      this.#open.delete(oldest);
    }
    return { confirmation, expiresAt: this.#env.now() + CONFIRM_MS };
  }

  /** The request it was made for. */
  wish(confirmation: string): RunWish {
    return this.#open.get(confirmation)?.wish ?? {};
  }

  /** Uses one up, whatever the outcome; undefined if it was valid for this. */
  take(confirmation: string, subject: Subject): Problem | undefined {
    const open = this.#open.get(confirmation);
    this.#open.delete(confirmation);
    if (open === undefined)
      return refused("this confirmation is unknown or was already used; confirm the command again");
    if (this.#env.monotonic() >= open.until)
      return refused("this confirmation has expired; confirm the command again");
    if (open.hash !== hashOf(subject))
      return refused(
        "the command, its folder or its block has changed since it was confirmed; confirm it again",
      );
    return undefined;
  }
}

function hashOf({ by, block, version, command, cwd, folder, sandbox }: Subject): string {
  const parts = [by, block, version, command, cwd, folder, sandbox];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function refused(message: string): Problem {
  return problem("conflict", message);
}
