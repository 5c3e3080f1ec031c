/**
 * What this server can do: its tools, and the agents that a turn can be asked of. Read when the page connects, until it is
 * known; what is not there is not offered.
 */
import type { Json } from "@blockyard/kernel";
import { Cell } from "./cell.ts";
import { request } from "./proof.ts";

export interface Capabilities {
  readonly tools: ReadonlySet<string>;
  readonly providers: readonly string[];
  /** Why an agent cannot be asked here, and what to do about it. */
  readonly problems: ReadonlyMap<string, string>;
}

export const capabilities = new Cell<Capabilities | undefined>(undefined);

/** The workspace's folder, on the server's machine. */
export const workspaceRoot = new Cell<string | undefined>(undefined);

export async function readCapabilities(): Promise<void> {
  if (capabilities.get() !== undefined && workspaceRoot.get() !== undefined) return;
  const answer = await request("/v1/tools").catch(() => undefined);
  if (!answer?.ok) return;
  const known = capabilitiesOf((await answer.json()) as Json);
  capabilities.set(known);
  if (known.tools.has("agent.list")) capabilities.set({ ...known, problems: await readProblems() });
  const health = await request("/health").catch(() => undefined);
  // A server that waits for its database answers with another status, and knows its folder all the same.
  const { root } = ((await health?.json().catch(() => undefined)) ?? {}) as { readonly root?: unknown };
  if (typeof root === "string") workspaceRoot.set(root);
}

async function readProblems(): Promise<ReadonlyMap<string, string>> {
  const headers = { "content-type": "application/json" };
  const answer = await request("/v1/tools/agent.list", { method: "POST", headers, body: "{}" }).catch(
    () => undefined,
  );
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
  readonly input?: { readonly properties?: { readonly provider?: { readonly enum?: readonly string[] } } };
}

export function capabilitiesOf(json: Json): Capabilities {
  const rows = (
    Array.isArray(json) ? json : ((json as { tools?: Json } | null)?.tools ?? [])
  ) as readonly Schema[];
  const start = rows.find((row) => row.name === "turn.start");
  return {
    tools: new Set(rows.flatMap((row) => (typeof row.name === "string" ? [row.name] : []))),
    providers: start?.input?.properties?.provider?.enum ?? [],
    problems: new Map(),
  };
}
