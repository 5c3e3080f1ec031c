/** Refused actions in the audit log, as people read it. */
import { expect, it } from "vitest";
import { auditRows } from "./audit-rows.ts";

it("[AC344] what was refused is one row that says so; what was done stays as it is", () => {
  const entry = (id: number, details: object, action = "token.create") => ({ id, action, details });
  const done = entry(1, { agent: "bob" });
  const tried = entry(2, { agent: "codex" });
  const refused = entry(3, { agent: "codex", refused: "invalid", entry: 2 });
  const other = entry(4, { refused: "gone", entry: 2 }, "command.run");
  expect(auditRows([other, refused, tried, done] as never)).toEqual([
    other,
    { ...tried, details: { agent: "codex", refused: "invalid" } },
    done,
  ]);
  // The rest of a page, and an entry of an earlier version.
  expect(auditRows([refused] as never)).toEqual([refused]);
  const before = entry(5, { refused: "invalid" });
  expect(auditRows([before, done] as never)).toEqual([before, done]);
});
