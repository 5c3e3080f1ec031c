/** The client library: what a program that talks to a server needs, and nothing of the server. */
export {
  type LlmEvent,
  type LlmMessage,
  reduceLlm,
  type ToolUpdate,
  type View,
  type ViewChange,
} from "@blockyard/kernel";
export type {
  CallServer,
  ServerCalls,
  ToolAnswer,
  ToolInput,
  ToolName,
} from "@blockyard/server/contract";
export {
  type CallOptions,
  Client,
  type ClientOptions,
  type ConnectOptions,
  connect,
  type OwnTurn,
  Refusal,
  type TurnResult,
} from "./client.ts";
export { ownEnv } from "./env.ts";
export { Link, type LinkOptions, type LinkState } from "./link.ts";
export type { LlmOptions, LlmStream } from "./llm-stream.ts";
