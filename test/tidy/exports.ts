/**
 * Checks on what a file offers to others: an export that no other file imports offers nothing, and makes a reader look for its
 * callers. Tests count as importers. A package's entry is a file like any other, unless its readers are programs of other people.
 */
import { posix } from "node:path";
import { entries, publicEntries } from "./house.ts";
import { type File, isNode, type Node, type Source, visit } from "./source.ts";

/** Names that a file of a package exports and nobody imports. */
export function findUnusedExports(sources: readonly Source[], manifests: readonly File[]): string[] {
  const packages = entriesOf(manifests);
  const offers = new Map(sources.map((source) => [source.path, offersOf(source, packages)]));
  const used = new Set<string>();
  const use = (path: string, name: string): void => {
    const key = `${path}#${name}`;
    const offer = offers.get(path);
    if (used.has(key) || offer === undefined) return;
    used.add(key);
    if (!offer.names.includes(name)) for (const target of offer.stars) use(target, name);
  };
  for (const source of sources) {
    for (const { path, names } of wantsOf(source, packages))
      for (const name of names ?? offers.get(path)?.names ?? []) use(path, name);
  }
  return [...offers]
    .filter(([path]) => path.startsWith("packages/") && !isFree(path))
    .flatMap(([path, { names }]) =>
      names
        .filter((name) => !used.has(`${path}#${name}`))
        .map((name) => `${path} exports ${name}, which no other file imports`),
    );
}

/** Programs and threads start in an entry; of these, only a package's index is there to be imported. */
function isFree(path: string): boolean {
  if (publicEntries.test(path) || /\.test\.tsx?$/.test(path)) return true;
  return !path.endsWith("/src/index.ts") && entries.some((entry) => entry.test(path));
}

interface Offer {
  readonly names: readonly string[];
  /** Files whose names are all offered here too. */
  readonly stars: readonly string[];
}

function offersOf(source: Source, packages: ReadonlyMap<string, string>): Offer {
  const names: string[] = [];
  const stars: string[] = [];
  for (const node of source.tree["body"] as Node[]) {
    if (node.type === "ExportAllDeclaration") stars.push(targetOf(source.path, node, packages) ?? "");
    if (node.type !== "ExportNamedDeclaration") continue;
    names.push(...(node["specifiers"] as Node[]).map((each) => nameOf(each["exported"])));
    if (isNode(node["declaration"])) names.push(...declaredIn(node["declaration"]));
  }
  return { names, stars };
}

/** Patterns are not taken apart: nobody exports one. */
function declaredIn(declaration: Node): string[] {
  const declarators = declaration["declarations"] as Node[] | undefined;
  const ids = declarators === undefined ? [declaration["id"]] : declarators.map((each) => each["id"]);
  return ids.filter((id) => isNode(id) && id.type === "Identifier").map(nameOf);
}

interface Want {
  readonly path: string;
  /** Undefined: whatever the file exports. */
  readonly names: readonly string[] | undefined;
}

function wantsOf(source: Source, packages: ReadonlyMap<string, string>): Want[] {
  const wants: Want[] = [];
  visit(source.tree, (node) => {
    const path = targetOf(source.path, node, packages);
    if (path === undefined || node.type === "ExportAllDeclaration") return;
    wants.push({ path, names: wantedNames(node) });
  });
  return wants;
}

function wantedNames(node: Node): string[] | undefined {
  const specifiers = node["specifiers"] as Node[] | undefined;
  if (specifiers === undefined || specifiers.some(({ type }) => type === "ImportNamespaceSpecifier"))
    return undefined;
  const field = node.type === "ImportDeclaration" ? "imported" : "local";
  return specifiers.filter((each) => isNode(each[field])).map((each) => nameOf(each[field]));
}

function nameOf(node: unknown): string {
  return String((node as Node)["name"] ?? (node as Node)["value"]);
}

/** The file that an import or a re-export names, if it is one of ours. */
function targetOf(from: string, node: Node, packages: ReadonlyMap<string, string>): string | undefined {
  if (!isNode(node["source"])) return undefined;
  const specifier = node["source"]["value"];
  if (typeof specifier !== "string") return undefined;
  return specifier.startsWith(".")
    ? posix.join(posix.dirname(from), specifier.replace(/\?.*$/, ""))
    : packages.get(specifier);
}

/** The files that package.json files export, by the name that others import. */
function entriesOf(manifests: readonly File[]): Map<string, string> {
  return new Map(
    manifests.flatMap(({ path, text }) => {
      const { name, exports = {} } = JSON.parse(text) as { name: string; exports?: Record<string, string> };
      return Object.entries(exports).map(
        ([key, file]) => [name + key.slice(1), posix.join(posix.dirname(path), file)] as const,
      );
    }),
  );
}
