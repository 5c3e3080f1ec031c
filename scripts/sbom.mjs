/**
 * The bill of materials of the package, as CycloneDX: every package that it is built from or installs, with its version, its
 * licence and the hash that the lockfile pins it by. Made from the lockfile and the installed packages alone: no network.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @param {string} root
 * @param {readonly string[]} packages Names of folders under packages
 */
export function billOfMaterials(root, packages) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const { name, version } = lock[""];
  /** @type {Map<string, object>} */
  const found = new Map();
  /** @param {string} from @param {string} wanted */
  const visit = (from, wanted) => {
    const path = placeOf(lock, from, wanted);
    if (path === undefined || found.has(path)) return;
    const entry = lock[path];
    if (entry.link) return visitAll(entry.resolved);
    found.set(path, component(root, path, wanted, entry));
    visitAll(path);
  };
  /** @param {string} path */
  const visitAll = (path) => {
    const { dependencies = {}, optionalDependencies = {} } = lock[path] ?? {};
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) visit(path, each);
  };
  for (const each of packages) visitAll(`packages/${each}`);
  const components = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  return {
    ...{ bomFormat: "CycloneDX", specVersion: "1.5", version: 1 },
    metadata: { component: { type: "application", "bom-ref": name, name, version } },
    components,
  };
}

/**
 * Where npm has put a package that another one asks for: the nearest node_modules above it.
 * @param {Record<string, unknown>} lock @param {string} from @param {string} wanted
 */
function placeOf(lock, from, wanted) {
  for (
    let at = from;
    ;
    at = at.includes("/node_modules/") ? at.slice(0, at.lastIndexOf("/node_modules/")) : ""
  ) {
    const path = at === "" ? `node_modules/${wanted}` : `${at}/node_modules/${wanted}`;
    if (path in lock) return path;
    if (at === "") return undefined;
  }
}

/** @param {string} root @param {string} path @param {string} name @param {{ version: string, integrity?: string, license?: string }} entry */
function component(root, path, name, { version, integrity, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const licence = license ?? installedLicence(join(root, path, "package.json"));
  const hash = /^sha512-(.+)$/.exec(integrity ?? "")?.[1];
  return {
    ...{ type: "library", "bom-ref": `${purl}#${path}`, name, version, purl },
    ...(hash ? { hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }] } : {}),
    ...(licence ? { licenses: [{ expression: licence }] } : {}),
  };
}

/** @param {string} path */
function installedLicence(path) {
  const { license } = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  return typeof license === "string" ? license : undefined;
}
