/**
 * A child process in its own process group: no shell, killed with everything that it has started, its output given as it
 * comes. It ends exactly once, whatever it does, and then nothing of it is left.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve, sep } from "node:path";
import { GRACE_MS, STDERR_TAIL_CHARS, UNREAD_BYTES } from "./limits.ts";
import type { ProcessTracker } from "./process-tracker.ts";

export interface ChildSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** It has nothing to read. */
  readonly isMute?: boolean;
  /** Called when nothing of it is left. */
  readonly onGone?: () => void;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of its stderr. */
  readonly stderr: string;
  /** It could not be started. */
  readonly failed?: string;
}

interface ChildCare {
  /** The time between one signal and the next, and before its pipes are closed after it is gone. */
  readonly graceMs?: number | undefined;
  readonly unreadBytes?: number | undefined;
  /** Told what it writes to stderr, as it comes. */
  readonly onErrors?: (bytes: Uint8Array) => void;
}

export class Child {
  /** Undefined where the system would not even try. */
  readonly #process: ChildProcess | undefined;
  readonly #graceMs: number;
  readonly #unreadBytes: number;
  readonly #tracker: ProcessTracker;
  readonly #mark: string;
  readonly ended: Promise<ChildEnd>;
  #stderr = "";
  #isOver = false;
  /** Its process group may be somebody else's from now on. */
  #isGone = false;

  constructor(spec: ChildSpec, tracker: ProcessTracker, care: ChildCare = {}) {
    const { graceMs = GRACE_MS, unreadBytes = UNREAD_BYTES, onErrors } = care;
    this.#graceMs = graceMs;
    this.#unreadBytes = unreadBytes;
    const { env, mark } = tracker.adopt(spec.env);
    this.#tracker = tracker;
    this.#mark = mark;
    const started = start(spec, env);
    this.#process = started instanceof Error ? undefined : started;
    this.#process?.stdin?.on("error", () => undefined); // it may be gone before it has read everything
    // Held until somebody reads: for a child that has ended already, Node would discard unread output.
    this.#process?.stdout?.on("readable", () => undefined);
    this.#process?.stderr?.on("data", (bytes: Buffer) => {
      onErrors?.(bytes);
      this.#stderr = (this.#stderr + bytes.toString("utf8")).slice(-STDERR_TAIL_CHARS);
    });
    this.ended = new Promise((resolve) => {
      const end = async (end: Omit<ChildEnd, "stderr">) => {
        if (this.#isOver) return;
        this.#isOver = true;
        this.#signal("SIGKILL"); // what it left in its group,
        this.#isGone = true;
        await this.#tracker.end(this.#mark); // and what had moved out of it
        try {
          spec.onGone?.();
        } catch (error) {
          this.#stderr += String(error); // callers waiting for the end are told, and wait no longer
        }
        resolve({ ...end, stderr: this.#stderr });
      };
      // The system blames the program when the folder is missing.
      const fail = ({ message }: Error) =>
        void end({
          code: null,
          signal: null,
          failed: existsSync(spec.cwd) ? message : `the folder ${spec.cwd} does not exist (any more)`,
        });
      if (started instanceof Error) return fail(started);
      started.on("error", fail);
      started.on("close", (code, signal) => void end({ code, signal }));
      // A grandchild may keep the pipes open after the child is gone: that does not keep the turn open.
      started.on("exit", (code, signal) => {
        setTimeout(() => void end({ code, signal }), this.#graceMs).unref();
      });
    });
  }

  /** The program itself has ended; its pipes may still be open. */
  get hasExited(): boolean {
    const child = this.#process;
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** It is gone; its children are being ended, which takes time on a busy machine. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its standard output, in chunks, until it closes or the child is gone. */
  async *output(): AsyncIterable<Uint8Array> {
    const stdout = this.#process?.stdout;
    if (!stdout) return;
    const over = this.ended.then(() => stdout.destroy());
    try {
      for await (const chunk of stdout) yield chunk as Buffer;
    } catch {
      // destroyed: the child is gone
    }
    void over;
  }

  /** What it does not read waits in memory, up to a limit: one that leaves more than that unread is ended. */
  write(text: string): void {
    const stdin = this.#process?.stdin;
    if (!stdin || this.#isOver) return;
    stdin.write(text);
    if (stdin.writableLength <= this.#unreadBytes) return;
    if (!stdin.destroyed) this.#stderr += "It was ended: it did not read its input.\n";
    stdin.destroy();
    this.kill();
  }

  closeInput(): void {
    this.#process?.stdin?.end();
  }

  /** Asks it to stop, then makes it. */
  stop(): void {
    this.#signal("SIGINT");
    setTimeout(() => this.#signal("SIGTERM"), this.#graceMs).unref();
    setTimeout(() => this.kill(), 2 * this.#graceMs).unref();
  }

  /** Everything at once: processes that have moved out of its group could keep its pipes open. */
  kill(): void {
    if (this.#isOver) return;
    this.#signal("SIGKILL");
    void this.#tracker.end(this.#mark);
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined || this.#isGone) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // nobody left in the group
    }
  }
}

/** Some failures are thrown at once: an argument with U+0000 in it, or more of them than the system accepts. */
function start({ file, args, cwd, isMute }: ChildSpec, env: ChildSpec["env"]): ChildProcess | Error {
  try {
    return spawn(file, [...args], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      detached: true,
      stdio: [isMute ? "ignore" : "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    return error as Error;
  }
}

/**
 * The file of a command, from PATH; undefined if it is not there. Folders of PATH that are relative, or inside the
 * workspace, are not searched: anybody who writes there would choose what runs.
 */
export function findCommand(name: string, path: string | undefined, root?: string): string | undefined {
  const folders = (path ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(folder, root));
  const candidates = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function isInside(folder: string, root: string | undefined): boolean {
  if (root === undefined) return false;
  const way = relative(realPath(root), realPath(folder));
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The target of links; for a missing file, the path itself. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
