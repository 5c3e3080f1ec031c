/**
 * Inputs for every tool, made from the tools' own JSON schemas: a valid one, and the places in it that hold a string. A
 * new tool or field is covered without a change here, unless its values must name something that exists.
 */
import type { Json, ToolSchema } from "@blockyard/kernel";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly minItems?: number;
  readonly default?: Json;
}

type Path = readonly (string | number)[];

/** Things that exist, by the name of the field that takes them. */
export type Known = Readonly<Record<string, Json>>;

/** A valid input: every field, also the optional ones. */
export function inputOf({ input }: ToolSchema, known: Known): Record<string, Json> {
  return sampleOf(input as Schema, known, "") as Record<string, Json>;
}

function sampleOf(schema: Schema, known: Known, name: string): Json {
  if (name in known) return known[name] as Json;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0] as Json;
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return sampleOf(either[0] as Schema, known, name);
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, sampleOf(inner, known, key)]),
      );
    case "array":
      return schema.items ? [sampleOf(schema.items, known, name.replace(/s$/, ""))] : [];
    case "integer":
    case "number":
      return Math.max(0, schema.minimum ?? 0);
    case "boolean":
      return schema.default ?? false;
    case "string":
      return "a";
    default:
      return {};
  }
}

/** Where the schema has strings that are the caller's own words: no enum, no constant. Each union member counts. */
export function stringPlaces({ input }: ToolSchema): readonly Path[] {
  return placesOf(input as Schema, []);
}

function placesOf(schema: Schema, path: Path): Path[] {
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.flatMap((inner) => placesOf(inner, path));
  if (schema.const !== undefined || schema.enum) return [];
  if (schema.type === "string") return [path];
  if (schema.type === "array" && schema.items) return placesOf(schema.items, [...path, 0]);
  const inner = Object.entries(schema.properties ?? {});
  if (schema.type === "object" && inner.length === 0) return [[...path, "note"]];
  return inner.flatMap(([key, value]) => placesOf(value, [...path, key]));
}

/** A copy with another value at a place; missing parents are created. */
export function withValue(input: Json, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value;
  if (typeof key === "number") {
    const list = Array.isArray(input) ? [...(input as Json[])] : [];
    list[key] = withValue(list[key] ?? {}, rest, value);
    return list;
  }
  const object = typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
  return { ...object, [key]: withValue((object as Record<string, Json>)[key] ?? {}, rest, value) };
}
