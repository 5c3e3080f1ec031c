/** trust.show, trust.allow, trust.revoke: what acts by itself in a folder, and the owner's yes to it. The owner's alone. */

import { type Call, tool } from "@blockyard/kernel";
import { trustAllow, trustRevoke, trustShow } from "./contract.ts";
import type { Trust } from "./trust.ts";

export function trustTools(trust: Trust) {
  const show = tool({
    ...trustShow,
    description:
      "List the files of a folder that an agent working there runs or follows (hooks, MCP servers, instructions, settings), and " +
      "which of them the owner trusts.",
    access: "owner",
    async run(_: Call, input) {
      return trust.show(input.folder);
    },
  });

  const allow = tool({
    ...trustAllow,
    description:
      "Trust the files of a folder that agents run or follow, exactly as trust.show or a turn's question showed them. New and " +
      "changed files ask again.",
    access: "owner",
    sensitive: () => true,
    async run({ caller }: Call, input) {
      return trust.allow(caller.agent, input.folder, input.digest) ?? trust.show(input.folder);
    },
  });

  const revoke = tool({
    ...trustRevoke,
    description: "Stop trusting a folder: the next turn there asks again.",
    access: "owner",
    sensitive: () => true,
    async run(_: Call, input) {
      return { revoked: trust.revoke(input.folder) };
    },
  });

  return [show, allow, revoke] as const;
}
