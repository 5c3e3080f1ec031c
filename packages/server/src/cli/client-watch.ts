/**
 * Whether the program that started this one is still there. A server on standard input and output belongs to its client and
 * must end with it, however that one goes: it closes our input, stops reading our output, tells us to stop, or is killed
 * while some other process still holds the pipe open. The last one shows only in the parent process: it becomes another one.
 *
 * It must be made before anything is awaited: a client may be gone before the first answer of a server.
 */
import { PARENT_LOOK_MS } from "./limits.ts";

type Leaving = "input ended" | "output closed" | "told to stop" | "parent gone";

export class ClientWatch {
  /** How the client went. Never rejects. */
  readonly gone: Promise<Leaving>;
  readonly #aborted = new AbortController();
  #stop: () => void = () => undefined;

  constructor(program: NodeJS.Process = process) {
    const { stdin, stdout, ppid } = program;
    this.gone = new Promise((resolve) => {
      const leave = (how: Leaving) => () => resolve(how);
      stdin.once("end", leave("input ended")).once("close", leave("input ended"));
      stdin.once("error", leave("input ended"));
      stdout.once("close", leave("output closed")).once("error", leave("output closed"));
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
        program.once(signal, leave("told to stop"));
      const parent = setInterval(() => {
        if (program.ppid !== ppid) resolve("parent gone");
      }, PARENT_LOOK_MS);
      this.#stop = () => clearInterval(parent);
    });
    void this.gone.then((how) => {
      this.#stop();
      if (how !== "input ended") this.#aborted.abort();
    });
  }

  /** It does not matter any more. */
  close(): void {
    this.#stop();
  }

  /** Aborted when nobody is there who could read an answer. Of a client that only closed our input, one may be. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }
}
