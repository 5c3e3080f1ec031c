/**
 * Closes the files that the server was started with, beyond the three standard ones: a shell's `exec 63<key`, a log or a socket of the
 * program that started it. Every child would have them too, agents included. Node marks the first sixteen, and those that follow
 * without a gap, as not to be passed on; it cannot mark the others, so they are closed. Only for Linux, whose `/proc` says which files are passed on;
 * macOS passes none on.
 */

import { closeSync, readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC`, as `/proc/self/fdinfo` prints flags. */
const NOT_PASSED_ON = 0o2000000;
/** A file that an argument names by its number: `--tls-key <(…)`. */
const NAMED = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;

/** To be called before anything is opened. A file that the arguments name is still needed, and stays. */
export function closeInheritedFiles(args: readonly string[]): void {
  const needed = new Set(
    args.flatMap((arg) => Number(NAMED.exec(arg.slice(arg.indexOf("=") + 1))?.[1] ?? [])),
  );
  for (const file of openFiles()) if (file > 2 && !needed.has(file) && isPassedOn(file)) closeSync(file);
}

function openFiles(): readonly number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    return []; // no /proc here
  }
}

function isPassedOn(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & NOT_PASSED_ON) === 0;
  } catch {
    return false; // the listing itself, which is closed by now
  }
}
