/**
 * A copy of the sources that can be changed without harm: packages, tests and what runs them, in a temporary folder, with
 * the installed packages linked in. The project's own packages are linked to the copy, so that what is changed is what runs.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OWN = "@blockyard";
/** Large, and never changed. */
const LINKED = new Set(["fixtures", "recordings", "dist", "node_modules"]);

export interface Copy {
  readonly folder: string;
  remove(): void;
}

export function copySources(): Copy {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-mutation-"));
  for (const { name } of readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile()))
    cpSync(join(ROOT, name), join(folder, name));
  for (const name of ["scripts", "test", "docs", "examples"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of readdirSync(join(ROOT, "packages"))) copyPackage(join("packages", name), folder);
  linkModules(folder);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function copyPackage(path: string, folder: string): void {
  mkdirSync(join(folder, path), { recursive: true });
  for (const name of readdirSync(join(ROOT, path))) {
    const [from, to] = [join(ROOT, path, name), join(folder, path, name)];
    if (LINKED.has(name)) symlinkSync(from, to);
    else cpSync(from, to, { recursive: true });
  }
}

function linkModules(folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, OWN), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== OWN && name !== ".cache") symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  for (const name of readdirSync(join(ROOT, "node_modules", OWN)))
    symlinkSync(join(folder, "packages", name), join(modules, OWN, name));
}
