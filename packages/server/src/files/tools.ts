/** The tools of files, one file each. They stand in the same table as the kernel's. */

import type { Tool } from "@blockyard/kernel";
import { fileFlush } from "./file-flush.ts";
import { fileGrant, fileGrants, fileRevoke } from "./file-grant.ts";
import { fileList } from "./file-list.ts";
import { fileOpen } from "./file-open.ts";
import { fileResolve } from "./file-resolve.ts";
import { fileStatus } from "./file-status.ts";
import type { Files } from "./files.ts";

export function fileTools(files: Files): readonly Tool<never, unknown>[] {
  const tools = [
    fileList(files),
    fileOpen(files),
    fileStatus(files),
    fileFlush(files),
    fileResolve(files),
    fileGrant(files),
    fileRevoke(files),
    fileGrants(files),
  ];
  return tools as unknown as readonly Tool<never, unknown>[];
}
