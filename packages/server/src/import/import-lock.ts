/**
 * One import of a session at a time in this process: the next one waits, and finds what is there then. Between processes
 * that share a store the ingest itself notices (see `keep` in the kernel's ingest).
 */

import type { Kernel } from "@blockyard/kernel";

const running = new WeakMap<Kernel, Map<string, Promise<void>>>();

/** Resolves when it is this one's turn, with how to let the next one in. */
export async function lockImport(kernel: Kernel, session: string): Promise<() => void> {
  const last = running.get(kernel) ?? new Map<string, Promise<void>>();
  running.set(kernel, last);
  const before = last.get(session);
  const { promise, resolve } = Promise.withResolvers<void>();
  const own = Promise.all([before, promise]).then(() => undefined);
  last.set(session, own);
  await before;
  return () => {
    resolve();
    if (last.get(session) === own) last.delete(session);
  };
}
