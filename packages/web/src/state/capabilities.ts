/**
 * What this server can do: its tools, and the agents that a turn can be asked of. Read when the page connects, until it is
 * known; what is not there is not offered.
 */
import type { Json } from "@blockyard/kernel";
import { Cell } from "./cell.ts";
import { request } from "./proof.ts";

interface Capabilities {
  readonly tools: ReadonlySet<string>;
  readonly providers: readonly string[];
  /** What each tool takes. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
  /** Why an agent cannot be asked here, and what to do about it. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Whether a tool of this server takes a field: one of another version may not know it. */
export function takes(tool: string, field: string): boolean {
  return capabilities.get()?.fields.get(tool)?.has(field) ?? false;
}

export const capabilities = new Cell<Capabilities | undefined>(undefined);

/** The workspace's folder, on the server's machine. */
export const workspaceRoot = new Cell<string | undefined>(undefined);

/** Its branch, where it is a repository. */
export const workspaceBranch = new Cell<string | undefined>(undefined);

export async function readCapabilities(): Promise<void> {
  if (capabilities.get() !== undefined && workspaceRoot.get() !== undefined) return;
  // Looking for the agents takes a while; the workspace's name does not wait for it.
  await Promise.all([readTools(), readWorkspace()]);
}

async function readTools(): Promise<void> {
  const answer = await request("/v1/tools").catch(() => undefined);
  if (!answer?.ok) return;
  const known = capabilitiesOf((await answer.json()) as Json);
  capabilities.set(known);
  if (known.tools.has("agent.list")) capabilities.set({ ...known, problems: await readProblems() });
}

/** The workspace's folder, and the branch that it is on at the moment. */
async function readWorkspace(): Promise<void> {
  const health = await request("/health").catch(() => undefined);
  // A server that waits for its database answers with another status, and knows its folder all the same.
  const said = (await health?.json().catch(() => undefined)) ?? {};
  const { root, branch } = said as { readonly root?: unknown; readonly branch?: unknown };
  if (typeof root === "string") workspaceRoot.set(root);
  if (typeof root === "string") workspaceBranch.set(typeof branch === "string" ? branch : undefined);
}

async function readProblems(): Promise<ReadonlyMap<string, string>> {
  const headers = { "content-type": "application/json" };
  const answer = await request("/v1/tools/agent.list", {
    method: "POST",
    headers,
    body: '{"login":true}',
  }).catch(() => undefined);
  return problemsOf(((await answer?.json().catch(() => null)) ?? null) as Json);
}

export function problemsOf(json: Json): ReadonlyMap<string, string> {
  const { agents = [] } = (json ?? {}) as {
    readonly agents?: readonly { readonly provider: string; readonly problem?: string }[];
  };
  return new Map(
    agents.flatMap(({ provider, problem }) => (problem === undefined ? [] : [[provider, problem] as const])),
  );
}

interface Schema {
  readonly name?: string;
  readonly input?: {
    readonly properties?: { readonly [field: string]: { readonly enum?: readonly string[] } };
  };
}

export function capabilitiesOf(json: Json): Capabilities {
  const rows = (
    Array.isArray(json) ? json : ((json as { tools?: Json } | null)?.tools ?? [])
  ) as readonly Schema[];
  const start = rows.find((row) => row.name === "turn.start");
  return {
    tools: new Set(rows.flatMap((row) => (typeof row.name === "string" ? [row.name] : []))),
    providers: start?.input?.properties?.["provider"]?.enum ?? [],
    fields: new Map(
      rows.flatMap(({ name, input }) =>
        name === undefined ? [] : [[name, new Set(Object.keys(input?.properties ?? {}))] as const],
      ),
    ),
    problems: new Map(),
  };
}
