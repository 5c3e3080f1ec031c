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
}

export const capabilities = new Cell<Capabilities | undefined>(undefined);

/** The workspace's folder, on the server's machine. */
export const workspaceRoot = new Cell<string | undefined>(undefined);

export async function readCapabilities(): Promise<void> {
  if (capabilities.get() !== undefined && workspaceRoot.get() !== undefined) return;
  const answer = await request("/v1/tools").catch(() => undefined);
  if (!answer?.ok) return;
  capabilities.set(capabilitiesOf((await answer.json()) as Json));
  const health = await request("/health").catch(() => undefined);
  // A server that waits for its database answers with another status, and knows its folder all the same.
  const { root } = ((await health?.json().catch(() => undefined)) ?? {}) as { readonly root?: unknown };
  if (typeof root === "string") workspaceRoot.set(root);
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
  };
}
