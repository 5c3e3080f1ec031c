/**
 * Every tool of a server as its callers know it: names, inputs and answers. Programs import the types from here, and no program
 * imports anything else of the server. That the server has these tools and no others is checked where it is put together.
 */

import type { CallsOf, CallTool, CoreCalls } from "@blockyard/kernel";
import type { accessContracts } from "../access/contract.ts";
import type { fileContracts } from "../files/contract.ts";
import type { rerunContracts } from "../rerun/contract.ts";
import type { trustContracts } from "../trust/contract.ts";
import type { turnContracts } from "../turns/contract.ts";

/** Input and answer of each tool, by its name. */
export type ServerCalls = CoreCalls &
  CallsOf<typeof accessContracts> &
  CallsOf<typeof fileContracts> &
  CallsOf<typeof rerunContracts> &
  CallsOf<typeof trustContracts> &
  CallsOf<typeof turnContracts>;

export type ToolName = keyof ServerCalls;
export type ToolInput<Name extends ToolName> = ServerCalls[Name]["input"];
export type ToolAnswer<Name extends ToolName> = ServerCalls[Name]["answer"];

/** `call("block.read", input)`, with the types of that tool. */
export type CallServer = CallTool<ServerCalls>;
