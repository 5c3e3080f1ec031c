/**
 * Checks on types that say more than the compiler knows, in product code: casts that forget a type in order to name another
 * one, and metadata that is read by a name in quotes or through a cast, which no kind of block answers for.
 */
import { maxCasts, metadataFile, testing } from "./house.ts";
import { isNode, lineAt, literal, type Node, type Source, visit } from "./source.ts";

/** A few places need such a cast; each says why on the line before. */
export function checkCasts(sources: readonly Source[], max = maxCasts): string[] {
  const found = sources.filter(isProduct).flatMap(castsIn);
  const places = found.map(({ place }) => place);
  return [
    ...found
      .filter(({ isExplained }) => !isExplained)
      .map(({ place }) => `${place}: say why, on the line before`),
    ...(found.length > max
      ? [`${found.length} casts that forget a type, of ${max}: ${places.join(", ")}`]
      : []),
  ];
}

export function checkMetadataReads(sources: readonly Source[]): string[] {
  return sources.filter(isProduct).flatMap((source) => {
    const found: string[] = [];
    visit(source.tree, (node) => {
      const complaint = metadataRead(node);
      if (complaint !== undefined && source.path !== metadataFile)
        found.push(`${source.path}:${lineAt(source.text, node.start)} ${complaint}`);
    });
    return found;
  });
}

function isProduct({ path }: Source): boolean {
  return /^packages\/[^/]+\/src\//.test(path) && !testing.test(path);
}

interface Cast {
  readonly place: string;
  readonly isExplained: boolean;
}

function castsIn({ path, text, tree }: Source): Cast[] {
  const lines = text.split("\n");
  const found: Cast[] = [];
  visit(tree, (node) => {
    if (!forgets(node)) return;
    const line = lineAt(text, node.start);
    found.push({ place: `${path}:${line}`, isExplained: /^\s*([?:] )?\/\/ /.test(lines[line - 2] ?? "") });
  });
  return found;
}

/** `x as unknown as T`, `x as any`, `x as never`. */
function forgets(node: Node): boolean {
  if (node.type !== "TSAsExpression") return false;
  const type = typeOf(node);
  if (type === "TSAnyKeyword" || type === "TSNeverKeyword") return true;
  const inner = bare(node["expression"]);
  return inner?.type === "TSAsExpression" && typeOf(inner) === "TSUnknownKeyword";
}

function typeOf(cast: Node): string | undefined {
  const type = cast["typeAnnotation"];
  return isNode(type) ? type.type : undefined;
}

function metadataRead(node: Node): string | undefined {
  if (node.type === "MemberExpression" && node["computed"] === true && isMetadata(node["object"])) {
    const key = literal(node["property"]);
    return typeof key === "string" ? `reads metadata["${key}"]: read metadata.${key}` : undefined;
  }
  if (node.type !== "TSAsExpression" || !isMetadata(node["expression"])) return undefined;
  const type = node["typeAnnotation"];
  const name = isNode(type) && isNode(type["typeName"]) ? type["typeName"]["name"] : undefined;
  return name === "Json" || name === "JsonObject" || typeOf(node) === "TSUnionType"
    ? undefined
    : "casts metadata: narrow the block by its kind, or ask metadataOf";
}

/** A variable or a field of this name. */
function isMetadata(value: unknown): boolean {
  const node = bare(value);
  if (node?.type === "Identifier") return node["name"] === "metadata";
  const property = node?.type === "MemberExpression" ? node["property"] : undefined;
  return isNode(property) && node?.["computed"] !== true && property["name"] === "metadata";
}

/** Without parentheses, `?.` and `!` around it. */
function bare(value: unknown): Node | undefined {
  if (!isNode(value)) return undefined;
  const isWrapped = ["ParenthesizedExpression", "ChainExpression", "TSNonNullExpression"].includes(
    value.type,
  );
  return isWrapped ? bare(value["expression"]) : value;
}
