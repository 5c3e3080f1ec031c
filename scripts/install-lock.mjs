/**
 * One install at a time in a folder: whoever comes second waits. The lock is outside of the folder, since an install replaces
 * node_modules; the lock of a process that is gone is taken over. Plain JavaScript on built-ins.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @param {string} folder
 * @param {(text: string) => void} say
 * @param {() => Promise<void>} work
 */
export async function withLock(folder, say, work) {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `blockyard-install-${name}`);
  let told = false;
  while (!takeLock(lock)) {
    if (!told) say("Another command is installing the packages: waiting for it.");
    told = true;
    await new Promise((done) => setTimeout(done, 500));
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  const interrupt = () => process.exit(130);
  process.once("exit", release).once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    await work();
  } finally {
    release();
    process.off("exit", release).off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/** @param {string} lock */
function takeLock(lock) {
  const owner = join(lock, "pid");
  try {
    mkdirSync(lock);
    writeFileSync(owner, String(process.pid));
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  }
  if (isStale(lock, owner)) rmSync(lock, { recursive: true, force: true });
  return false;
}

/**
 * @param {string} lock
 * @param {string} owner
 */
function isStale(lock, owner) {
  try {
    const pid = Number(readFileSync(owner, "utf8"));
    if (pid > 0) return !isAlive(pid);
  } catch {
    // It has been released in the meantime, or has no owner yet.
  }
  // Between mkdir and the pid there is a moment without an owner.
  return existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 5_000;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
