/** The built-in tools of the loop, in the order in which a model is told of them. */

import { bashTool } from "./bash.ts";
import { editTool, readTool, writeTool } from "./files.ts";
import { globTool, grepTool } from "./find.ts";
import { todoTool } from "./todo.ts";
import type { LoopTool } from "./tool.ts";

export const workspaceTools: readonly LoopTool[] = [
  readTool,
  writeTool,
  editTool,
  bashTool,
  globTool,
  grepTool,
  todoTool,
];
