/**
 * The MCP transport: the tool table for models, over streamable HTTP at /mcp and over stdio. Thin: a tool call is the same call
 * that HTTP and WebSocket make. A problem is an answer that the model can act on (`isError`, with code, sentence and
 * numbers), never a protocol error. Conversations and blocks are resources, and changes of them are announced.
 *
 * It knows its tools through a port, so that the stdio command can put the running server behind it.
 */

import type { Json, ToolSchema } from "@blockyard/kernel";
import {
  isProblem,
  modelName,
  type Problem,
  parseBlockId,
  problem,
  typedCalls,
} from "@blockyard/kernel/plain";
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import type { CallerRole } from "../access/auth.ts";
import type { CallServer } from "../contract/index.ts";
import type { Announcement } from "./announcer.ts";
import { LISTED_RESOURCES, SUBSCRIBED_URIS } from "./limits.ts";

export interface McpPort {
  readonly version: string;
  tools(): Promise<readonly ToolSchema[]>;
  call(tool: string, input: unknown, signal?: AbortSignal): Promise<Json | Problem>;
}

const INSTRUCTIONS = `Blockyard keeps the work of coding agents and people as blocks: texts, tool calls, results, files.
Ids look like conversation/agent/number. Lines are 0-based and end-exclusive everywhere. Read before you edit: pass the
version you read as base_version, or the lines you expect as expected_text; a conflict comes back with the present text.
block_undo takes back only your own changes. To edit a file of the workspace together with others, file_open its path and
edit the block that it answers with: it is saved by itself, and what others write to the file is merged in.`;

const PROMPTS = [
  {
    name: "review-conversation",
    description: "Summarize a conversation: what was done, what failed, what is open",
    arguments: [{ name: "conversation", description: "Conversation id", required: true }],
    text: (args: Record<string, string>) =>
      `Read conversation ${args["conversation"] ?? ""} with conversation_read and block_read. Say what was done, which tool ` +
      "calls failed and why, what is left open, and what it cost.",
  },
  {
    name: "edit-together",
    description: "Edit a block that others are writing, without losing their text",
    arguments: [
      { name: "block_id", description: "Block id", required: true },
      { name: "change", description: "What to change", required: true },
    ],
    text: (args: Record<string, string>) =>
      `Read block ${args["block_id"] ?? ""} with block_read, then make this change with block_edit, passing expected_text ` +
      `for every replaced range: ${args["change"] ?? ""}. On a mismatch, read the lines that come back and try again.`,
  },
  {
    name: "find-earlier-work",
    description: "Search all earlier work of agents",
    arguments: [{ name: "about", description: "What to look for", required: true }],
    text: (args: Record<string, string>) =>
      `Search all conversations with kernel_search and kinds: "all" for: ${args["about"] ?? ""}. Show the hits with their ` +
      "block ids and what they say, newest first.",
  },
] as const;

/** How this server's announcements reach the client: a stream that it opens, single subscriptions, or not at all. */
export type Announcing =
  | { readonly by: "stream" }
  | { readonly by: "subscription"; readonly uris: Set<string> }
  | { readonly by: "nothing" };

export function mcpServer(port: McpPort, announcing: Announcing): Server {
  const tells = announcing.by !== "nothing";
  const server = new Server(
    { name: "blockyard", version: port.version },
    {
      capabilities: {
        tools: { listChanged: tells },
        resources: { subscribe: tells, listChanged: tells },
        prompts: {},
      },
      instructions: INSTRUCTIONS,
    },
  );
  if (announcing.by === "subscription") subscriptions(server, announcing.uris);
  server.setRequestHandler("tools/list", async () => ({
    tools: (await port.tools()).filter(isForModels).map(describe),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const elsewhere = insteadOf(params.name, announcing);
    if (elsewhere !== undefined) return toResult(problem("invalid", elsewhere, { tool: params.name }));
    const said = await port.call(params.name, params.arguments ?? {}, mcpReq.signal);
    return toResult(isProblem(said) ? await forModels(port, said) : said);
  });
  server.setRequestHandler("prompts/list", async () => ({
    prompts: PROMPTS.map(({ name, description, arguments: args }) => ({
      name,
      description,
      arguments: [...args],
    })),
  }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (!prompt)
      throw invalid(
        `unknown prompt ${params.name}. Use one of ${PROMPTS.map(({ name }) => name).join(", ")}`,
      );
    const missing = prompt.arguments.filter(({ name }) => !params.arguments?.[name]).map(({ name }) => name);
    if (missing.length > 0) throw invalid(`prompt ${prompt.name} needs ${missing.join(" and ")}`);
    const text = prompt.text(params.arguments ?? {});
    return { description: prompt.description, messages: [{ role: "user", content: { type: "text", text } }] };
  });
  server.setRequestHandler("resources/list", ({ params }) => listResources(port, params?.cursor));
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: [
      { name: "conversation", uriTemplate: "blockyard://conversation/{id}", mimeType: "application/json" },
      {
        name: "block",
        uriTemplate: "blockyard://block/{conversation}/{agent}/{number}",
        mimeType: "text/plain",
      },
    ],
  }));
  server.setRequestHandler("resources/read", async ({ params }) => ({
    contents: [await readResource(port, params.uri)],
  }));
  return server;
}

/** An MCP client is a model, and no model acts as the owner, whatever its token. */
export function refuseOwner(role: CallerRole): Problem | undefined {
  if (role !== "owner") return undefined;
  return problem(
    "forbidden",
    "models must not use the owner's token. Create one for the model: blockyard token create --agent claude-mcp",
  );
}

/** The HTTP side. `portOf` gives the port of a caller; the guard has named it already. */
export function mcpHandler<Caller>(portOf: (caller: Caller) => McpPort): {
  readonly handler: McpHttpHandler;
  fetch(request: Request, caller: Caller, body?: unknown): Promise<Response>;
} {
  // Older clients are answered request by request, so there is no channel for an announcement.
  const handler = createMcpHandler(({ authInfo, era }) =>
    mcpServer(portOf(authInfo?.extra?.["caller"] as Caller), { by: era === "modern" ? "stream" : "nothing" }),
  );
  return {
    handler,
    fetch: (request, caller, body) =>
      handler.fetch(request, {
        authInfo: { token: "", clientId: "", scopes: [], extra: { caller } },
        ...(body === undefined ? {} : { parsedBody: body }),
      }),
  };
}

/** The URIs of what has changed. */
export function changedUris({ conversations, blocks }: Announcement): readonly string[] {
  return [...conversations.map(conversationUri), ...blocks.map(blockUri)];
}

function blockUri(id: string): string {
  return `blockyard://block/${id}`;
}

function conversationUri(id: string): string {
  return `blockyard://conversation/${id}`;
}

/** Single subscriptions, as clients before the stream know them. */
function subscriptions(server: Server, uris: Set<string>): void {
  server.setRequestHandler("resources/subscribe", async ({ params }) => {
    if (uris.size >= SUBSCRIBED_URIS) throw invalid(`${SUBSCRIBED_URIS} resources are already subscribed`);
    uris.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    uris.delete(params.uri);
    return {};
  });
}

/** Tool calls cannot stream: what a model does instead, and what its program can do, if it can. */
function insteadOf(tool: string, { by }: Announcing): string | undefined {
  const name = [...INSTEAD.keys()].find((each) => tool === each || tool === modelName(each));
  if (name === undefined) return undefined;
  const subscribe = by === "nothing" || name !== "block.subscribe" ? "" : SUBSCRIBE;
  return `${modelName(name)} streams, which a tool call cannot; ${INSTEAD.get(name)} instead${subscribe}`;
}

const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    "block.subscribe",
    "call block_sync with the versions that you have and wait_ms, again after every answer,",
  ],
  ["conversation.export", "call conversation_read, and block_read for the texts,"],
]);
const SUBSCRIBE =
  ". A client that can subscribe is notified of changes to the resource blockyard://block/<block_id>";

function isForModels({ streams }: ToolSchema): boolean {
  return !streams;
}

function describe({ modelName, description, access, input, output }: ToolSchema) {
  const isObject = (output as { type?: unknown } | null)?.type === "object";
  return {
    name: modelName,
    description,
    inputSchema: input as { type: "object" },
    ...(isObject ? { outputSchema: output as { type: "object" } } : {}),
    annotations: {
      readOnlyHint: access === "read",
      // Changes of blocks can be undone. The effects of an agent or a command, which only the owner starts, cannot.
      destructiveHint: access === "owner",
      idempotentHint: access === "read",
      openWorldHint: access === "owner",
    },
  };
}

function toResult(answer: Json | Problem) {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer, null, 1);
  const content = [{ type: "text" as const, text }];
  if (isProblem(answer)) return { content, isError: true };
  const isObject = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  return isObject ? { content, structuredContent: answer as Record<string, unknown> } : { content };
}

/** A problem uses the names that the model knows. */
async function forModels(port: McpPort, refused: Problem): Promise<Problem> {
  if (!Array.isArray(refused.details?.["valid_tools"])) return refused;
  const valid = (await port.tools()).filter(isForModels).map((tool) => tool.modelName);
  return { ...refused, details: { ...refused.details, valid_tools: valid } };
}

/** In pages: the cursor is the time of the last one. */
async function listResources(port: McpPort, cursor: string | undefined) {
  const before = cursor === undefined ? undefined : Number(cursor);
  if (Number.isNaN(before)) throw invalid(`not a cursor of this list: ${cursor?.slice(0, 80)}`);
  const listed = await typed(port)("conversation.list", {
    limit: LISTED_RESOURCES,
    ...(before === undefined ? {} : { before }),
  });
  if (isProblem(listed)) return { resources: [] };
  const { conversations, more } = listed;
  const last = conversations.at(-1);
  return {
    resources: conversations.map(({ conversation, title }) => ({
      uri: conversationUri(conversation),
      name: title || conversation,
      mimeType: "application/json",
    })),
    ...(more && last ? { nextCursor: String(last.updated_at) } : {}),
  };
}

async function readResource(port: McpPort, uri: string) {
  const id = /^blockyard:\/\/(conversation|block)\/(.+)$/.exec(uri);
  if (id?.[1] === "conversation") {
    const read = await typed(port)("conversation.read", { conversation: id[2] ?? "" });
    if (isProblem(read)) throw notFound(uri, read);
    return { uri, mimeType: "application/json", text: JSON.stringify(read, null, 1) };
  }
  if (!id?.[2] || !parseBlockId(id[2]))
    throw new ResourceNotFoundError(uri, `not a resource of this server: ${uri}`);
  const read = await typed(port)("block.read", { block_id: id[2], line_numbers: false });
  if (isProblem(read)) throw notFound(uri, read);
  return { uri, mimeType: "text/plain", text: read.content };
}

function typed(port: McpPort): CallServer {
  return typedCalls((tool, input) => port.call(tool, input));
}

function notFound(uri: string, refused: Problem): Error {
  return refused.problem === "not_found"
    ? new ResourceNotFoundError(uri, refused.message)
    : new Error(refused.message);
}

function invalid(message: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
