/** What the main thread and the thread that makes exports say to each other. One export at a time; each side waits for the other. */

import type { ExportLine } from "@blockyard/kernel";
import type { Format } from "./format.ts";

export type ToThread =
  | { readonly type: "begin"; readonly format: Format; readonly redact: boolean }
  /** The requested piece; empty: there are no more. */
  | { readonly type: "lines"; readonly lines: readonly ExportLine[] }
  | { readonly type: "bytes"; readonly bytes: Uint8Array | undefined }
  /** The last piece is on its way: make the next. */
  | { readonly type: "more" };

export type FromThread =
  | { readonly type: "want" }
  | { readonly type: "piece"; readonly piece: string | Uint8Array }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly message: string };
