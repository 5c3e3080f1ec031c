/**
 * Programs that tests need and npm does not have, from Debian's packages. A missing one is installed if possible;
 * otherwise the error names the command. Installing takes longer than a hook may: what a whole project of tests needs
 * is installed before its first test (`test/e2e/setup.ts`).
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const LIMIT_MS = 300_000;

/** The first of `paths` that exists, after installing `name` if none does. */
export function debianProgram(name: string, paths: readonly string[]): string {
  const find = () => paths.find((path) => existsSync(path));
  const found = find() ?? (install(name) ? find() : undefined);
  if (found === undefined)
    throw new Error(`These tests need ${name} and could not install it: apt-get install ${name}`);
  return found;
}

/** A machine that never asked for the lists of packages finds nothing at the first try. */
function install(name: string): boolean {
  return aptGet("install", "-y", name) || (aptGet("update") && aptGet("install", "-y", name));
}

/** Another worker may be installing: wait for it. */
function aptGet(...args: readonly string[]): boolean {
  const wait = `DPkg::Lock::Timeout=${LIMIT_MS / 1000}`;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    execFileSync("apt-get", ["-o", wait, ...args], { env, stdio: "ignore", timeout: LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}
