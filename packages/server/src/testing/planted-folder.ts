/**
 * A folder for tests of the sandbox: secrets can be planted in it, and what runs there is tracked. It is below the home
 * folder, because a sandbox hides /tmp as a whole. Only tests use it.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Child, type ChildSpec } from "../processes/child.ts";
import { ProcessTracker } from "../processes/process-tracker.ts";

export const SECRET = "planted-secret";

export class PlantedFolder {
  readonly path: string;
  readonly tracker: ProcessTracker;

  constructor(name: string) {
    this.path = realpathSync(mkdtempSync(join(homedir(), `blockyard-${name}-`)));
    this.tracker = new ProcessTracker(join(this.path, "marks"));
  }

  /** What a program prints, and why it failed, if it did. */
  async output(spec: ChildSpec): Promise<string> {
    const child = new Child(spec, this.tracker);
    let text = "";
    for await (const bytes of child.output()) text += Buffer.from(bytes).toString();
    const { failed, stderr } = await child.ended;
    return text + (failed ?? "") + stderr;
  }

  /** Git as a person would run it, outside of the sandbox and without settings of this machine. */
  git(cwd: string, ...args: string[]): string {
    const env = { PATH: process.env["PATH"], HOME: this.path, GIT_CONFIG_NOSYSTEM: "1" };
    const settings = ["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b.c"];
    return execFileSync("git", [...settings, ...args], { cwd, env, encoding: "utf8", stdio: "pipe" });
  }

  /** The same in a repository that a confined command may have broken. */
  tryGit(cwd: string, ...args: string[]): void {
    try {
      this.git(cwd, ...args);
    } catch {
      // It ran nothing planted, which is what matters.
    }
  }

  async remove(): Promise<void> {
    await this.tracker.close();
    rmSync(this.path, { recursive: true });
  }
}

/** Writes a file, with a secret in it unless another text is given. */
export function plant(path: string, text = `${SECRET}\n`): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Runs a command in bash, with both of its outputs in one. */
export function bashSpec(command: string, cwd: string, env: ChildSpec["env"]): ChildSpec {
  return { file: "/bin/bash", args: ["-c", `{ ${command}\n} 2>&1`], cwd, env, isMute: true };
}
