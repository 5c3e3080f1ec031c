/** What a route knows of the connection that its request came on. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";

export interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export type NodeContext = Context<{ Bindings: NodeBindings }>;
