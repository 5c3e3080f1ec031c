/**
 * The tools of running a command again: confirm, run, stop. They stand in the same table as the kernel's, and are the
 * owner's alone.
 */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { commandConfirm, commandRun, commandStop } from "./contract.ts";
import type { Reruns } from "./rerun.ts";

export function rerunTools(reruns: Reruns) {
  const confirm = tool({
    ...commandConfirm,
    description:
      "Prepare to run a block's command again. Returns exactly what would run and where, with invisible characters spelled " +
      "out, and a confirmation for command.run that works once, within a minute, if nothing changes. " +
      "It runs where it ran before; if that folder is gone or outside the served one, pass another with cwd.",
    access: "owner",
    async run(call: Call, input) {
      const confirmed = await reruns.confirm(call.caller.agent, input.block_id, {
        chosen: input.cwd,
        network: input.network,
      });
      if (isProblem(confirmed)) return confirmed;
      const { commandVisible, cwdVisible, expiresAt, ...rest } = confirmed;
      return { ...rest, command_visible: commandVisible, cwd_visible: cwdVisible, expires_at: expiresAt };
    },
  });

  const run = tool({
    ...commandRun,
    description:
      "Run a confirmed command again with /bin/bash and no startup files. Its output appears in a " +
      "new command block below.",
    access: "owner",
    sensitive: () => true,
    async run(call: Call, { block_id: id, confirmation, limit_ms }) {
      const created = await reruns.run(call.caller.agent, id, confirmation, limit_ms);
      return isProblem(created) ? created : { block_id: created };
    },
  });

  const stop = tool({
    ...commandStop,
    description: "Stop a command that command.run started, and all its processes.",
    access: "owner",
    async run(_call: Call, input) {
      return reruns.stop(input.block_id);
    },
  });

  return [confirm, run, stop] as const;
}
