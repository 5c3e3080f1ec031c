/** The tools of files, one file each. They stand in the same table as the kernel's. */

import { fileFlushTool } from "./file-flush.ts";
import { fileGrantsTool, fileGrantTool, fileRevokeTool } from "./file-grant.ts";
import { fileListTool } from "./file-list.ts";
import { fileOpenTool } from "./file-open.ts";
import { fileResolveTool } from "./file-resolve.ts";
import { fileStatusTool } from "./file-status.ts";
import type { Files } from "./files.ts";

export function fileTools(files: Files) {
  return [
    fileListTool(files),
    fileOpenTool(files),
    fileStatusTool(files),
    fileFlushTool(files),
    fileResolveTool(files),
    fileGrantTool(files),
    fileRevokeTool(files),
    fileGrantsTool(files),
  ] as const;
}
