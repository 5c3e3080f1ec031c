/**
 * Loads files that use the libraries of bench/package.json, to which Blockyard is compared. Those files are named
 * `*.peer.ts`. Neither `npm start` nor `npm test` installs these libraries: the first bench that needs them does, and checks
 * the types of the files that use them at the same time.
 *
 * Such a file is loaded by its address, never by an import, since the compiler would follow that into libraries that are not
 * installed. The caller says what the file exports.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ensureInstalled, isInstalled } from "../scripts/install.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

export async function loadPeer<T>(file: URL): Promise<T> {
  await installPeers();
  return (await import(file.href)) as T;
}

/** Installs the libraries if that is needed. Files that do not fit them any more are an error. */
export async function installPeers(): Promise<void> {
  if (isInstalled(folder, "all")) return;
  const say = (text: string) => process.stderr.write(`bench: ${text}\n`);
  await ensureInstalled(folder, "all", say);
  const { status, stdout } = spawnSync(process.execPath, [compiler, "--pretty", "false", "-p", folder], {
    encoding: "utf8",
  });
  if (status !== 0) say(`the types of bench/**/*.peer.ts do not fit:\n${stdout}`);
}
