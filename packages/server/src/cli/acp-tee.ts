/**
 * The tee: bytes pass between an editor and its agent as they come, in both directions, untouched and unparsed; a copy of each line
 * goes to a file. Nothing of the copy can stop or change what passes: errors of it are swallowed, back-pressure comes from the two
 * real ends only.
 */

import { spawn } from "node:child_process";
import { createWriteStream, type WriteStream } from "node:fs";
import { bounds, type Direction } from "@blockyard/providers";
import { TEE_CLOSE_MS, TEE_WAITING_BYTES } from "./limits.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const PASSED_ON = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const NOT_FOUND = 127;

export async function tee(
  command: string,
  args: readonly string[],
  file: TrafficFile | undefined,
): Promise<Ended> {
  const child = spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"] });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of PASSED_ON) process.on(signal, pass);
  const input = new LineCopy("in", file);
  const output = new LineCopy("out", file);
  process.stdin.on("data", (bytes: Buffer) => input.push(bytes));
  process.stdin.on("error", () => child.stdin.end());
  process.stdin.pipe(child.stdin);
  child.stdin.on("error", () => undefined); // it is gone: its exit is reported below
  child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
  child.stdout.pipe(process.stdout, { end: false });
  process.stdout.on("error", () => void child.kill("SIGTERM")); // the editor is gone
  const ended = await new Promise<Ended>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "ENOENT" ? "program not found. Check its name and your PATH" : error.message;
      process.stderr.write(`blockyard: cannot start ${command}: ${why}\n`);
      resolve({ code: NOT_FOUND, signal: null });
    });
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  for (const signal of PASSED_ON) process.off(signal, pass);
  process.stdin.unpipe().destroy();
  input.end();
  output.end();
  await file?.end();
  return ended;
}

/** The copy on disk: one record a line. */
export class TrafficFile {
  readonly path: string;
  readonly #stream: WriteStream;
  readonly #since = performance.now();
  #isBroken = false;

  constructor(path: string) {
    this.path = path;
    this.#stream = createWriteStream(path, { mode: 0o600 });
    this.#stream.on("error", () => {
      this.#isBroken = true;
    });
  }

  add(dir: Direction, line: Buffer, isCut: boolean): void {
    if (this.#isBroken) return;
    if (this.#stream.writableLength > TEE_WAITING_BYTES) {
      this.#isBroken = true;
      this.#stream.destroy();
      return;
    }
    const text = line.toString("utf8");
    const isText = Buffer.from(text, "utf8").equals(line);
    const record = {
      ...{ t: Math.round(performance.now() - this.#since), dir, line: text },
      ...(isText ? {} : { base64: line.toString("base64") }),
      ...(isCut ? { unterminated: true } : {}),
    };
    this.#stream.write(`${JSON.stringify(record)}\n`);
  }

  async end(): Promise<void> {
    if (this.#isBroken) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, TEE_CLOSE_MS);
      this.#stream.once("close", () => {
        clearTimeout(late);
        resolve();
      });
      this.#stream.once("error", () => resolve());
      this.#stream.end(`${JSON.stringify({ dir: "end" })}\n`);
    });
  }
}

/** Splits a copy of the bytes into lines. A line over the bound is not copied. */
class LineCopy {
  readonly #dir: Direction;
  readonly #file: TrafficFile | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(dir: Direction, file: TrafficFile | undefined) {
    this.#dir = dir;
    this.#file = file;
  }

  push(bytes: Buffer): void {
    if (this.#file === undefined) return;
    let from = 0;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      this.#keep(bytes.subarray(from, at));
      this.#give(false);
      from = at + 1;
    }
    this.#keep(bytes.subarray(from));
  }

  end(): void {
    if (this.#bytes > 0) this.#give(true);
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= bounds.lineBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #give(isCut: boolean): void {
    if (this.#bytes <= bounds.lineBytes) this.#file?.add(this.#dir, Buffer.concat(this.#pieces), isCut);
    this.#pieces = [];
    this.#bytes = 0;
  }
}
