/** Sentences instead of stacks. */
import { StoreError } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { readCertificate } from "../config/certificate.ts";
import { makeConfig } from "../config/config.ts";
import { exitOf, sentenceOf } from "./failure.ts";

const system = (code: string, more: object) =>
  Object.assign(new Error(`${code}: it failed`), { code, ...more });

it.each<[string, unknown, RegExp]>([
  [
    "a damaged database",
    new StoreError("corrupt", "cannot open y.db"),
    /^cannot open y\.db\. Restore a backup: blockyard restore FILE/,
  ],
  ["a full disk", new StoreError("full", "commit"), /free some space/],
  [
    "a full disk, without a path",
    system("ENOSPC", { syscall: "write" }),
    /^write failed \(ENOSPC\)\. The disk is full: free some space/,
  ],
  [
    "a read-only file",
    system("EROFS", { syscall: "open", path: "/x/y" }),
    /^cannot use \/x\/y \(EROFS\)\. The file system is read-only/,
  ],
  [
    "another account's",
    system("EACCES", { syscall: "open", path: "/x" }),
    /^cannot use \/x \(EACCES\)\. Check its owner/,
  ],
])("[U4] %s is reported in a sentence that names the fix", (_, error, expected) => {
  expect(sentenceOf(error)).toMatch(expected);
  expect(sentenceOf(error)).not.toMatch(/\n\s+at /);
});

it("[U4] only a bug is reported with its stack", () => {
  expect(sentenceOf(new TypeError("x is not a function"))).toMatch(/\n\s+at /);
  expect(sentenceOf(system("ERR_INVALID_ARG_TYPE", { syscall: "x" }))).toMatch(/\n\s+at /);
});

it.each<[string, number, () => unknown]>([
  ["a folder that is not there", 3, () => makeConfig({ env: {}, root: "/nowhere" })],
  ["a file instead of a folder", 2, () => makeConfig({ env: {}, root: import.meta.filename })],
  ["a port that is none", 2, () => makeConfig({ env: {}, port: 99_999 })],
  ["--cert without --key", 2, () => makeConfig({ env: {}, cert: "cert.pem" })],
  ["a certificate that is none", 2, () => readCertificate({ cert: "/nowhere.pem", key: "/nowhere.pem" })],
  ["an address without TLS", 2, () => makeConfig({ env: {}, host: "0.0.0.0" })],
  ["--origin without a scheme", 2, () => makeConfig({ env: {}, origin: "shop" })],
  ["a database that is no URL", 2, () => makeConfig({ env: {}, database: "shop" })],
  ["a broker that is no URL", 2, () => makeConfig({ env: {}, nats: "shop" })],
  ["a setting that is wrong", 1, () => makeConfig({ env: { BLOCKYARD_SANDBOX: "maybe" } })],
])("[U1] a start with %s exits with %i", (_, code, start) => {
  let failed: unknown;
  try {
    start();
  } catch (error) {
    failed = error;
  }
  expect(failed).toBeInstanceOf(Error);
  expect(exitOf(failed)).toBe(code);
});
