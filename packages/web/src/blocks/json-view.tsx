/**
 * A JSON value, indented and coloured.
 */
import type { Json } from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";

export function JsonView({ value, name }: { value: Json; name: string }): ReactNode {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return <CodeLines name={`json:${name}`} text={text} grammar="json" />;
}
