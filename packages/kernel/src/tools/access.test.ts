/** The table of what each role may do. */
import { expect, it } from "vitest";
import { type CallerRole, may, mayNot, type Right } from "./access.ts";

const rows: readonly [Right, readonly CallerRole[]][] = [
  ["read", ["owner", "agent", "viewer"]],
  ["write", ["owner", "agent"]],
  ["edit", ["owner", "agent"]],
  ["upload", ["owner", "agent"]],
  ["ingest", ["owner", "agent"]],
  ["present", ["owner", "agent"]],
  ["owner", ["owner"]],
  ["import", ["owner"]],
];

it.each(rows)("[AC280] %s is for %s", (right, roles) => {
  const allowed = (["owner", "agent", "viewer"] as const).filter((role) => may(role, right));
  expect(allowed).toEqual(roles);
});

it("[AC280] a role that has no row may do nothing", () => {
  for (const role of ["guest", "", "constructor", "__proto__"])
    for (const [right] of rows) {
      expect(may(role as CallerRole, right)).toBe(false);
      expect(mayNot(role as CallerRole, right)).toMatchObject({ problem: "forbidden" });
    }
});
