/**
 * What a command is, and how it fails: with one sentence that names the fix.
 */

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** The exit code. */
  run(args: readonly string[]): Promise<number>;
}

export class CommandError extends Error {
  override name = "CommandError";
}
