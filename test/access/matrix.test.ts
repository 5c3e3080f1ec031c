/**
 * Every tool, for every caller, over every transport. Who may call what is written down here a second time: a tool that is not in
 * the table, or that another role may call than it says, fails. Nothing is done: an input that no tool takes is `invalid` for
 * whoever may call it, and is not looked at for whoever may not.
 */
import { type Access, isProblem, mayCall } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overHttp, overMcp, overSocket, type Transport } from "./transports.ts";
import { Yard } from "./yard.ts";

const TABLE: Readonly<Record<Access, readonly string[]>> = {
  read: [
    ...["block.history", "block.list", "block.read", "block.search", "block.subscribe", "block.sync"],
    ...["conversation.context", "conversation.export", "conversation.list", "conversation.read"],
    ...["cursor.set", "file.grants", "file.list", "file.status", "kernel.search", "turn.list"],
  ],
  write: [
    ...["block.append", "block.apply_patch", "block.create", "block.edit", "block.redo", "block.splice"],
    ...["block.status", "block.undo", "conversation.create", "conversation.fork", "conversation.include"],
    ...[
      "conversation.prune",
      "conversation.update",
      "file.flush",
      "file.open",
      "file.resolve",
      "turn.begin",
      "turn.end",
    ],
  ],
  owner: [
    ...["audit.list", "command.confirm", "command.run", "command.stop", "file.grant", "file.revoke"],
    ...["session.list", "session.revoke", "token.create", "token.revoke"],
    ...["trust.allow", "trust.revoke", "trust.show"],
    ...["turn.answer", "turn.release", "turn.start", "turn.stop"],
  ],
};

let yard: Yard;
beforeAll(async () => {
  yard = await Yard.start();
});
afterAll(() => yard.stop());

type Role = "viewer" | "agent" | "owner";
const TRANSPORTS = {
  http: async (token: string) => overHttp(yard, token),
  ws: (token: string) => overSocket(yard, token),
  mcp: (token: string) => overMcp(yard, token),
} as const;

const tokenOf = (role: Role, name: string) =>
  role === "owner" ? yard.owner : role === "agent" ? yard.agent(name) : yard.viewer(name);

async function said(transport: Transport, tool: string): Promise<string> {
  const answer = await transport.call(tool, { no_such_field: 1 });
  return isProblem(answer) ? answer.problem : "answered";
}

describe("the matrix of tools, callers and transports", () => {
  it("[AC231] has an entry for every tool", () => {
    const entries = Object.entries(TABLE).flatMap(([access, names]) =>
      names.map((name) => `${access} ${name}`),
    );
    const tools = yard.running.tools.schemas().map(({ access, name }) => `${access} ${name}`);
    expect(tools.toSorted()).toEqual(entries.toSorted());
  });

  const rows = (["viewer", "agent", "owner"] as const).flatMap((role) =>
    (["http", "ws", "mcp"] as const)
      .filter((transport) => transport !== "mcp" || role !== "owner")
      .map((transport) => [role, transport] as const),
  );
  it.each(rows)("[AC231] a %s over %s may call what the table says, and nothing else", async (role, name) => {
    const transport = await TRANSPORTS[name](tokenOf(role, `${role}-${name}`));
    const got: string[] = [];
    const expected: string[] = [];
    for (const [access, tools] of Object.entries(TABLE) as [Access, readonly string[]][])
      for (const tool of tools) {
        got.push(`${tool} ${await said(transport, tool)}`);
        expected.push(`${tool} ${mayCall(access, role) ? "invalid" : "forbidden"}`);
      }
    await transport.close();
    expect(got).toEqual(expected);
  });

  it("[AC231] without a token, or with one that was revoked, no tool is reached on any transport", async () => {
    const revoked = yard.agent("gone");
    yard.running.auth.revoke("gone");
    const before = await yard.state();
    for (const [i, token] of [undefined, revoked, "x".repeat(43)].entries()) {
      const from = `127.0.9.${i + 1}`;
      const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
      for (const { name } of yard.running.tools.schemas().slice(0, 6)) {
        const { status } = await yard.ask(`/v1/tools/${name}`, {
          method: "POST",
          body: "{}",
          headers: bearer,
          from,
        });
        expect([name, status]).toEqual([name, 401]);
      }
      const mcp = await yard.ask("/mcp", { method: "POST", body: "{}", headers: bearer, from });
      expect([mcp.status, await yard.upgrade("/v1/feed", bearer, from)]).toEqual([401, 401]);
    }
    const owner = await yard.ask("/mcp", { method: "POST", body: "{}", token: yard.owner });
    expect(owner.status).toBe(403);
    expect(await yard.state()).toBe(before);
  });
});
