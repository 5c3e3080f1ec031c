/** file.grant, file.revoke, file.grants: which guarded files the owner lets others read and write. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import { fileGrant, fileGrants, fileRevoke, type GrantsView } from "./contract.ts";
import type { Files } from "./files.ts";

function answer(files: Files): GrantsView {
  return {
    grants: files.guarded.grants.map((grant) => ({
      ...grant,
      reason: files.guarded.reasonOf(grant.path) ?? "",
    })),
  };
}

export const fileGrantTool = (files: Files) =>
  tool({
    ...fileGrant,
    description:
      "Let agents and viewers read and edit one guarded file (see file.list: guarded). Returns all grants. " +
      "Opening a file as the owner grants nothing to others.",
    access: "owner",
    sensitive: () => true,
    async run({ caller }: Call, { path, agent }) {
      const refused = await files.grant(path, agent, caller.agent);
      return isProblem(refused) ? refused : answer(files);
    },
  });

export const fileRevokeTool = (files: Files) =>
  tool({
    ...fileRevoke,
    description: "Revoke a grant made with file.grant, from the next call on. Returns the remaining grants.",
    access: "owner",
    sensitive: () => true,
    async run({ caller }: Call, { path, agent }) {
      const refused = await files.revoke(path, agent, caller.agent);
      return isProblem(refused) ? refused : answer(files);
    },
  });

export const fileGrantsTool = (files: Files) =>
  tool({
    ...fileGrants,
    description:
      "List the guarded files that agents and viewers may read and edit, who granted them and when.",
    access: "read",
    async run() {
      await files.ready();
      return answer(files);
    },
  });
