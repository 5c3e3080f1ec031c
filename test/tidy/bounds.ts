/**
 * Checks that bounds stand in tables: a number that says how much, how often or how long belongs to the `limits.ts` of its
 * folder, or of one above it, where all of them can be read together. What a number is shows in its name and its size; numbers that
 * name a state, a code or a format are none of these, and so are those that are computed from others.
 */
import { boundTable, measured, notBounds, notBoundsFiles, quantity, testing, waits } from "./house.ts";
import { dottedName, isNode, lineAt, literal, type Node, type Source, visit } from "./source.ts";

/** Below this, a number without a quantity in its name is taken for a state. */
const STATES = 16;

export function checkBounds(sources: readonly Source[]): string[] {
  return sources.filter(isProduct).flatMap((source) => [...constants(source), ...insideCode(source)]);
}

function isProduct({ path }: Source): boolean {
  const isSource = /^packages\/[^/]+\/src\//.test(path);
  return isSource && !testing.test(path) && !boundTable.test(path) && !notBoundsFiles.test(path);
}

/** `const QUEUED_MESSAGES = 20;` beside functions. */
function constants({ path, text, tree }: Source): string[] {
  return (tree["body"] as Node[]).flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement["declaration"] : statement;
    if (!isNode(declared) || declared.type !== "VariableDeclaration") return [];
    return (declared["declarations"] as Node[]).flatMap((each) => {
      const name = dottedName(each["id"] as Node);
      const value = numberOf(each["init"]);
      if (name === undefined || value === undefined || !isBound(name, value, text, each)) return [];
      return [`${path}:${lineAt(text, each.start)} ${name} is a bound: it belongs to limits.ts`];
    });
  });
}

function isBound(name: string, value: number, text: string, { init }: Node): boolean {
  const written = isNode(init) ? text.slice(init.start, init.end) : "";
  if (notBounds.test(name) || value < 0 || written.startsWith("0x")) return false;
  return quantity.test(name) || value >= STATES;
}

/** `setTimeout(look, 500)`, `{ timeoutMs: 500 }`, `waitMs = 500`. */
function insideCode({ path, text, tree }: Source): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    const what = waitOf(node) ?? measureOf(node);
    if (what !== undefined)
      found.push(`${path}:${lineAt(text, node.start)} ${what} is given a number: name it in limits.ts`);
  });
  return found;
}

function waitOf(node: Node): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const name = dottedName(node["callee"] as Node);
  const at = name === undefined ? undefined : waits[name];
  if (at === undefined) return undefined;
  return (numberOf((node["arguments"] as Node[])[at]) ?? 0) > 0 ? name : undefined;
}

function measureOf(node: Node): string | undefined {
  const [name, value] =
    node.type === "Property"
      ? [node["key"], node["value"]]
      : node.type === "AssignmentPattern"
        ? [node["left"], node["right"]]
        : [];
  const said = isNode(name) && node["computed"] !== true ? dottedName(name) : undefined;
  return said !== undefined && measured.test(said) && (numberOf(value) ?? 0) > 0 ? said : undefined;
}

/** The value of a number, or of a sum or product of nothing but numbers. */
function numberOf(node: unknown): number | undefined {
  if (!isNode(node)) return undefined;
  const value = literal(node);
  if (typeof value === "number") return value;
  if (node.type === "ParenthesizedExpression") return numberOf(node["expression"]);
  if (node.type === "UnaryExpression" && node["operator"] === "-")
    return negative(numberOf(node["argument"]));
  if (node.type !== "BinaryExpression") return undefined;
  const [left, right] = [numberOf(node["left"]), numberOf(node["right"])];
  const compute = operators[node["operator"] as string];
  return left === undefined || right === undefined ? undefined : compute?.(left, right);
}

function negative(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

const operators: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "**": (left, right) => left ** right,
};
