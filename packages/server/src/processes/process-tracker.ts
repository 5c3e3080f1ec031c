/**
 * Everything that this server's children have started, as one thing that can be ended. No child outlives its server:
 *
 * - a server that stops kills its children itself;
 * - when a server dies (killed, crashed), its reaper, a small process that waits for just that, kills them;
 * - where that did not happen either (both were killed), the next start with the same home folder kills them first.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "./child-env.ts";
import { type Environment, findMarked, killMarked, withMark, withoutOurs } from "./child-mark.ts";

const REAPER = fileURLToPath(new URL("./child-reaper.ts", import.meta.url));

/** Below this mark is everything that any server of a home folder has started. */
export function homeMark(home: string): string {
  return createHash("sha256").update(realpathSync(home)).digest("hex").slice(0, 16);
}

interface Adopted {
  readonly env: Environment;
  readonly mark: string;
}

export class ProcessTracker {
  readonly #home: string;
  readonly #server: string;
  #reaper: ChildProcess | undefined;
  /** How many processes of earlier lives were killed. Nothing is started before that is known. */
  readonly swept: Promise<number>;

  constructor(home: string) {
    mkdirSync(home, { recursive: true });
    this.#home = homeMark(home);
    this.#server = `${this.#home}.${randomBytes(6).toString("hex")}`;
    this.swept = killMarked(this.#home);
  }

  /** The environment for one child, by whose mark it and what it starts can be ended. */
  adopt(env: Environment): Adopted {
    this.#reaper ??= this.#startReaper();
    const mark = `${this.#server}.${randomBytes(6).toString("hex")}`;
    return { env: withMark(withoutOurs(env), mark), mark };
  }

  /** Ends what one child has left. */
  end(mark: string): Promise<number> {
    return killMarked(mark);
  }

  /** What this server has started and is still alive. */
  living(): Promise<readonly number[]> {
    return findMarked(this.#server);
  }

  async close(): Promise<void> {
    await killMarked(this.#server);
    this.#reaper?.stdin?.end();
    this.#reaper = undefined;
  }

  #startReaper(): ChildProcess {
    const reaper = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", REAPER, this.#server],
      // A group of its own: what ends the server's group must not end the one that clears up after it.
      {
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
        env: childEnvironment("helper", process.env) as NodeJS.ProcessEnv,
      },
    );
    reaper.on("error", () => undefined); // without it, the next start does its work
    reaper.on("exit", () => {
      if (this.#reaper === reaper) this.#reaper = undefined;
    });
    reaper.stdin?.on("error", () => undefined);
    reaper.unref();
    if (reaper.stdin instanceof Socket) reaper.stdin.unref();
    return reaper;
  }
}
