/**
 * Checks on what code reaches for: clocks, timers, randomness and the console in the packages that must be pure,
 * and, everywhere, shells, raw HTML and tests that are switched off.
 */
import { bannedInPure, pure, pureEdges, rawHtmlFiles, testing } from "./house.ts";
import { dottedName, isNode, lineAt, literal, type Node, type Source, visit } from "./source.ts";

export function checkPurity(sources: readonly Source[]): string[] {
  const inside = new RegExp(`^packages/(${pure.join("|")})/src/`);
  return sources
    .filter(({ path }) => inside.test(path) && !testing.test(path) && !pureEdges.includes(path))
    .flatMap((source) => find(source, (node, parent) => impurity(node, parent)));
}

export function checkShells(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => find(source, shell));
}

export function checkRawHtml(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !rawHtmlFiles.includes(path))
    .flatMap((source) => find(source, rawHtml));
}

/** A test that is left out, or that leaves out the others. `skipIf` is allowed: it says when. */
export function checkSwitchedOff(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => find(source, switchedOff));
}

type Look = (node: Node, parent: Node | undefined) => string | undefined;

function find(source: Source, look: Look): string[] {
  const found: string[] = [];
  visit(source.tree, (node, parent) => {
    const complaint = look(node, parent);
    if (complaint !== undefined) found.push(`${source.path}:${lineAt(source.text, node.start)} ${complaint}`);
  });
  return found;
}

function impurity(node: Node, parent: Node | undefined): string | undefined {
  const isDate = dottedName(node["callee"] as Node | undefined) === "Date";
  if (isDate && (node.type === "CallExpression" || (node["arguments"] as Node[]).length === 0)) {
    return "reads the clock: take the time from env";
  }
  const name = node.type === "MemberExpression" ? dottedName(node) : reference(node, parent);
  const bare = name?.replace(/^(globalThis|self|window)\./, "");
  return bare !== undefined && bannedInPure.includes(bare) ? `uses ${bare}: take it from env` : undefined;
}

/** The name, if the node is a use of a variable rather than the name of a field. */
function reference(node: Node, parent: Node | undefined): string | undefined {
  if (node.type !== "Identifier" || parent === undefined) return undefined;
  const isFieldName =
    (parent["property"] === node || parent["key"] === node) &&
    parent["computed"] !== true &&
    parent["value"] !== node;
  const isTypeName = parent.type.startsWith("TS") && parent.type !== "TSAsExpression";
  return isFieldName || isTypeName ? undefined : (node["name"] as string);
}

const shellCalls = new Set(["exec", "execSync"]);
const starters = /(^|\.)(spawn|spawnSync|execFile|execFileSync|fork)$/;

function shell(node: Node): string | undefined {
  if (node.type === "ImportDeclaration") return shellImport(node);
  if (node.type !== "CallExpression" || !starters.test(dottedName(node["callee"] as Node) ?? ""))
    return undefined;
  const options = (node["arguments"] as Node[]).flatMap(
    (argument) => (argument["properties"] as Node[]) ?? [],
  );
  const isShell = options.some(
    (option) => fieldName(option) === "shell" && literal(option["value"]) !== false,
  );
  return isShell ? "starts a shell: pass the arguments as a list" : undefined;
}

function shellImport(node: Node): string | undefined {
  if (!/^(node:)?child_process$/.test(String(literal(node["source"])))) return undefined;
  for (const specifier of node["specifiers"] as Node[]) {
    if (specifier.type !== "ImportSpecifier") return "imports child_process as a whole: name the functions";
    const name = (specifier["imported"] as Node)["name"] as string;
    if (shellCalls.has(name)) return `imports ${name}, which starts a shell: use execFile or spawn`;
  }
  return undefined;
}

function rawHtml(node: Node): string | undefined {
  const name = node.type === "JSXAttribute" ? ((node["name"] as Node)["name"] as string) : fieldName(node);
  const assigned =
    node.type === "AssignmentExpression"
      ? dottedName(node["left"] as Node)
          ?.split(".")
          .at(-1)
      : undefined;
  const isRaw = name === "dangerouslySetInnerHTML" || assigned === "innerHTML" || assigned === "outerHTML";
  return isRaw ? "puts raw HTML into the page" : undefined;
}

const suites = new Set(["it", "test", "describe", "suite", "bench"]);
const switches = new Set(["only", "skip", "todo", "fails"]);

function switchedOff(node: Node): string | undefined {
  if (
    node.type === "CallExpression" &&
    /^(xit|xdescribe|fit|fdescribe)$/.test(dottedName(node["callee"] as Node) ?? "")
  ) {
    return "switches a test off";
  }
  if (node.type !== "MemberExpression") return undefined;
  const parts = dottedName(node)?.split(".") ?? [];
  return suites.has(parts[0] ?? "") && switches.has(parts.at(-1) ?? "")
    ? `uses ${parts.join(".")}`
    : undefined;
}

function fieldName(node: Node): string | undefined {
  const key = node["key"];
  if (node.type !== "Property" || !isNode(key)) return undefined;
  return key.type === "Identifier" ? (key["name"] as string) : String(literal(key));
}
