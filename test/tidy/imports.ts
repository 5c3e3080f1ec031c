/**
 * Checks on who imports whom: packages, folders inside a package, libraries that have one home, undeclared
 * dependencies (npm hoists them, so the compiler does not notice), cycles, and files that nothing reaches.
 */
import { builtinModules } from "node:module";
import { posix } from "node:path";
import {
  anywhere,
  entries,
  folders,
  libraryHomes,
  light,
  nodeEdges,
  packageImports,
  peerFile,
  testing,
  typeImports,
} from "./house.ts";
import type { File, Import, Source } from "./source.ts";

const scope = "@blockyard/";

/** The rules of house.ts for every single import. */
export function checkImports(sources: readonly Source[], manifests: readonly File[]): string[] {
  const declared = readManifests(manifests);
  return sources.flatMap((source) =>
    source.imports.flatMap((edge) => {
      const complaint = isRelative(edge)
        ? checkRelative(source.path, edge.specifier)
        : checkBare(source.path, edge, declared);
      return complaint === undefined
        ? []
        : [`${source.path}:${edge.line} imports ${edge.specifier}: ${complaint}`];
    }),
  );
}

function checkRelative(path: string, specifier: string): string | undefined {
  const target = resolve(path, specifier);
  const from = packageOf(path);
  if (from === undefined) return undefined;
  if (packageOf(target) !== from && !testing.test(path)) {
    return "another package is imported by its name, not by a path";
  }
  const table = folders[from];
  if (table === undefined || testing.test(path)) return undefined;
  const own = folderOf(path);
  const other = folderOf(target);
  if (own === undefined || own === other || !/\/src\//.test(target)) return undefined;
  const allowed = table[own];
  if (allowed === undefined) return `the folder ${own} is not in the table of folders`;
  if (other !== undefined && allowed.includes(other)) return undefined;
  return `${own} may import ${allowed.join(", ") || "no other folder"}, not ${other ?? "what stands beside the folders"}`;
}

/** Folders that may import each other, by way of others or not: with such a table there would be no order among them. */
export function findFolderCycles(): string[] {
  return Object.entries(folders).flatMap(([name, table]) => {
    const reached = (folder: string, seen = new Set<string>()): Set<string> => {
      for (const next of table[folder] ?? []) if (!seen.has(next)) reached(next, seen.add(next));
      return seen;
    };
    return Object.keys(table)
      .filter((folder) => reached(folder).has(folder))
      .map((folder) => `packages/${name}/src/${folder} may import itself by way of other folders`);
  });
}

function checkBare(
  path: string,
  { specifier, isType }: Import,
  declared: ReadonlyMap<string, Manifest>,
): string | undefined {
  const name = libraryOf(specifier);
  const from = packageOf(path);
  const homes = libraryHomes[name];
  if (homes !== undefined && !testing.test(path) && !homes.some((home) => home.test(path))) {
    return `${name} is known in one place only (libraryHomes)`;
  }
  if (builtinModules.includes(name.replace(/^node:/, "")) || name.startsWith("node:")) {
    const isFree =
      from === undefined || !anywhere.includes(from) || nodeEdges.includes(path) || testing.test(path);
    return isFree ? undefined : `${from} runs anywhere and has no Node modules`;
  }
  if (from !== undefined && name.startsWith(scope) && name !== scope + from) {
    const isAllowed = packageImports[from]?.includes(name.slice(scope.length));
    const isAllowedType = isType && typeImports[from]?.includes(specifier);
    if (!isAllowed && !isAllowedType) return `${from} may not import that package`;
  }
  return checkDeclared(path, name, isType, declared);
}

/** What runs beside the packages (tests, benches, tools) may use whatever is declared anywhere; types may come from devDependencies. */
function checkDeclared(
  path: string,
  name: string,
  isType: boolean,
  declared: ReadonlyMap<string, Manifest>,
): string | undefined {
  const peers = declared.get("bench")?.dependencies;
  if (peers?.has(name))
    return peerFile.test(path)
      ? undefined
      : "only bench/**/*.peer.ts may import what bench/package.json declares";
  const from = packageOf(path);
  const own = declared.get(from === undefined ? "" : `packages/${from}`);
  const isTool = testing.test(path) || path.endsWith(".config.ts");
  const isErased = isTool || isType;
  if (own?.name === name || own?.dependencies.has(name) || (isErased && own?.devDependencies.has(name)))
    return undefined;
  if (isTool && declared.get("")?.devDependencies.has(name)) return undefined;
  if (from === undefined) {
    const isKnown = [...declared.values()].some(
      (manifest) =>
        manifest.name === name || manifest.dependencies.has(name) || manifest.devDependencies.has(name),
    );
    if (isKnown) return undefined;
  }
  return `it is not declared in ${from === undefined ? "any package.json" : `packages/${from}/package.json`}`;
}

interface Manifest {
  readonly name: string;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
}

/** By the folder of the package.json; the root's is "". */
function readManifests(files: readonly File[]): Map<string, Manifest> {
  return new Map(
    files.map(({ path, text }) => {
      const json = JSON.parse(text) as {
        name: string;
        dependencies?: Record<string, string>;
        devDependencies?: Record<string, string>;
      };
      const manifest = {
        name: json.name,
        dependencies: new Set(Object.keys(json.dependencies ?? {})),
        devDependencies: new Set(Object.keys(json.devDependencies ?? {})),
      };
      return [posix.dirname(path).replace(/^\.$/, ""), manifest];
    }),
  );
}

/** Every cycle of relative imports, types included: each is told once, from its alphabetically first file. */
export function findCycles(sources: readonly Source[]): string[] {
  const graph = new Map(sources.map((source) => [source.path, relativeTargets(source)]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push(describeCycle(trail.slice(at)));
    if (at >= 0 || done.has(path)) return;
    for (const target of graph.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of [...graph.keys()].toSorted()) walk(path, []);
  return [...new Set(found)];
}

function describeCycle(cycle: readonly string[]): string {
  const first = cycle.indexOf(cycle.toSorted()[0]!);
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(" -> ");
}

/**
 * Code and style sheets that no entry reaches. A test is an entry, but does not keep alive the file that it is the
 * test of: something that only its own test uses is dead.
 */
export function findDead(
  sources: readonly Source[],
  styles: readonly File[],
  manifests: readonly File[],
): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const named = manifests.flatMap(namedFiles);
  const all = [...byPath.keys(), ...styles.map(({ path }) => path)];
  const isEntry = (path: string) =>
    named.includes(path) || /\.test\.tsx?$/.test(path) || entries.some((entry) => entry.test(path));
  const alive = new Set<string>();
  const pending = all.filter(isEntry);
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (alive.has(path)) continue;
    alive.add(path);
    const source = byPath.get(path);
    const subject = path.replace(/\.test(\.tsx?)$/, "$1");
    const targets =
      source === undefined ? [] : [...relativeTargets(source), ...packageTargets(source, manifests)];
    pending.push(...targets.filter((target) => path === subject || target !== subject));
  }
  return all.filter((path) => !alive.has(path)).map((path) => `${path} is reached from no entry`);
}

/** Libraries that a file loads which is to stay light, with the way there. */
export function checkLight(sources: readonly Source[], manifests: readonly File[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return light.flatMap(([file, never]) =>
    [...byPath.keys()]
      .filter((path) => file.test(path))
      .flatMap((start) => heavyIn(start, never, byPath, manifests)),
  );
}

function heavyIn(
  start: string,
  never: readonly string[],
  byPath: ReadonlyMap<string, Source>,
  manifests: readonly File[],
): string[] {
  const ways = new Map([[start, start]]);
  const found: string[] = [];
  for (const [path, way] of ways) {
    const source = byPath.get(path);
    if (source === undefined) continue;
    const imports = source.imports.filter(({ isType, isLater }) => !isType && !isLater);
    for (const { specifier } of imports)
      if (never.includes(libraryOf(specifier)))
        found.push(`${way} -> ${specifier}: it is to be loaded without`);
    const next = { ...source, imports };
    for (const target of [...relativeTargets(next), ...packageTargets(next, manifests)])
      if (!ways.has(target)) ways.set(target, `${way} -> ${target}`);
  }
  return found;
}

/** Files that a package.json exports or runs. */
function namedFiles({ path, text }: File): string[] {
  const folder = posix.dirname(path);
  return [...text.matchAll(/[\w./@-]+\.(?:mjs|tsx?|js)\b/g)].map(([name]) => posix.join(folder, name));
}

function packageTargets(source: Source, manifests: readonly File[]): string[] {
  return source.imports
    .filter(({ specifier }) => specifier.startsWith(scope))
    .flatMap(({ specifier }) => {
      const name = libraryOf(specifier);
      const manifest = manifests.find(({ text }) => (JSON.parse(text) as { name: string }).name === name);
      if (manifest === undefined) return [];
      const { exports = {} } = JSON.parse(manifest.text) as { exports?: Record<string, string> };
      const target = exports[`.${specifier.slice(name.length)}`];
      return target === undefined ? [] : [posix.join(posix.dirname(manifest.path), target)];
    });
}

function relativeTargets(source: Source): string[] {
  return source.imports.filter(isRelative).map(({ specifier }) => resolve(source.path, specifier));
}

function isRelative({ specifier }: Import): boolean {
  return specifier.startsWith(".");
}

/** Without a bundler's suffix such as `?worker`. */
function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier.replace(/\?.*$/, ""));
}

function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

/** The folder below `src` that a file is in; undefined for files beside the folders. */
function folderOf(path: string): string | undefined {
  return /^packages\/[^/]+\/src\/([^/]+)\/.+$/.exec(path)?.[1];
}

/** `hono` of `hono/cookie`, `@hono/node-server` of `@hono/node-server/serve-static`. */
function libraryOf(specifier: string): string {
  return specifier.startsWith("@") ? specifier.split("/", 2).join("/") : specifier.split("/", 1)[0]!;
}
