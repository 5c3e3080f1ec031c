/**
 * A look at a database that no server has open, without changing it: is every page where it belongs? For the doctor;
 * what a start checks is in integrity.ts.
 */

import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { asFault } from "../encoding/fault.ts";
import { holdLock } from "./lock.ts";

export type QuickCheck =
  | { readonly is: "sound" }
  | { readonly is: "in use" }
  | { readonly is: "damaged"; readonly why: string };

export function quickCheck(path: string): QuickCheck {
  try {
    const lock = holdLock(path);
    try {
      return look(path);
    } finally {
      lock.release();
    }
  } catch (error) {
    const fault = asFault(error, `cannot check ${path}`);
    if (fault instanceof StoreError && fault.code === "locked") return { is: "in use" };
    return { is: "damaged", why: (fault as Error).message };
  }
}

function look(path: string): QuickCheck {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare("PRAGMA quick_check(3)").all();
    const why = rows.map((row) => String(row["quick_check"])).join("; ");
    return why === "ok" ? { is: "sound" } : { is: "damaged", why };
  } finally {
    db.close();
  }
}
