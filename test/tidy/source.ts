/**
 * The files that the checks look at, and what is known of a source file from its syntax tree: its imports, and the
 * nodes for whoever wants to look closer. Checks take files as values, so that they can be tried on small samples.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

export interface File {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** A node of the syntax tree, as far as the checks care. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Only types: nothing is left of it when the file runs. */
  readonly isType: boolean;
  /** Loaded when it is reached, or by another thread: not with the file. */
  readonly isLater: boolean;
}

export interface Source extends File {
  readonly tree: Node;
  readonly imports: readonly Import[];
}

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Every text file that is tracked, or new and not ignored. */
export function readTree(): File[] {
  return listPaths()
    .filter((path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile())
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter(({ text }) => !text.includes("\0"));
}

function listPaths(): string[] {
  try {
    const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 })
      .split("\0")
      .filter(Boolean);
  } catch {
    return walk("");
  }
}

const notOurs = new Set([
  "node_modules",
  "dist",
  "coverage",
  "results",
  "test-results",
  ".git",
  ".blockyard",
]);

/** For a copy without git. */
function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !notOurs.has(name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? walk(path) : [path];
    });
}

export function isCode(path: string): boolean {
  return /\.(ts|tsx|mjs|js)$/.test(path);
}

/** Throws on a syntax error, with the path. */
export function parse(file: File): Source {
  const lang = file.path.endsWith("x")
    ? "tsx"
    : file.path.endsWith("s") && !/\.m?js$/.test(file.path)
      ? "ts"
      : "js";
  try {
    const tree = parseAst(file.text, { lang }) as unknown as Node;
    return { ...file, tree, imports: findImports(file.text, tree) };
  } catch (error) {
    throw new Error(`${file.path} does not parse: ${error instanceof Error ? error.message : error}`);
  }
}

/** Visits every node with its parent, parents first. */
export function visit(node: Node, see: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  see(node, parent);
  for (const field of Object.values(node)) {
    for (const child of Array.isArray(field) ? field : [field]) {
      if (isNode(child)) visit(child, see, node);
    }
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** `a.b` for a member access on a plain name, the name for a name, else undefined. */
export function dottedName(node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === "Identifier") return node["name"] as string;
  if (node.type !== "MemberExpression" || node["computed"] === true) return undefined;
  const object = dottedName(node["object"] as Node);
  return object === undefined ? undefined : `${object}.${(node["property"] as Node)["name"]}`;
}

export function literal(node: unknown): unknown {
  return isNode(node) && node.type === "Literal" ? node["value"] : undefined;
}

/** Static and dynamic imports, re-exports, and `new URL("./x", import.meta.url)`: the way to a worker's file. */
function findImports(text: string, tree: Node): Import[] {
  const found: Import[] = [];
  visit(tree, (node) => {
    const specifier = specifierOf(node);
    if (typeof specifier === "string")
      found.push({ specifier, line: lineAt(text, node.start), isType: isType(node), isLater: isLater(node) });
  });
  return found;
}

function isType(node: Node): boolean {
  return node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
}

function isLater({ type }: Node): boolean {
  return type === "ImportExpression" || type === "NewExpression";
}

function specifierOf(node: Node): unknown {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
      return literal(node["source"]);
    case "TSImportType":
      return literal(node["source"]);
    case "NewExpression": {
      const [first, second] = node["arguments"] as Node[];
      const isUrl = dottedName(node["callee"] as Node) === "URL" && second?.type === "MemberExpression";
      const path = literal(first);
      return isUrl && typeof path === "string" && isCode(path) ? path : undefined;
    }
    default:
      return undefined;
  }
}
