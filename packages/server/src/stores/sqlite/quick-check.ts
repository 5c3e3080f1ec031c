/**
 * Checks a database that no server has open, without changing it: is every page where it belongs? For the doctor;
 * integrity.ts has the checks of a start.
 */

import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@blockyard/kernel/plain";
import { asFault } from "../encoding/fault.ts";
import { holdLock } from "./lock.ts";

type QuickCheck =
  | { readonly is: "sound" }
  | { readonly is: "in use" }
  | { readonly is: "damaged"; readonly why: string }
  /** The disk would not let it be looked at. That says nothing about the database. */
  | { readonly is: "unread"; readonly why: string; readonly isFull: boolean };

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
    const why = (fault as Error).message;
    const isDisk = fault instanceof StoreError && (fault.code === "full" || fault.code === "io");
    return isDisk ? { is: "unread", why, isFull: fault.code === "full" } : { is: "damaged", why };
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
