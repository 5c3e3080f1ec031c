/** Two nodes with one token and one database: what one revokes, the other refuses. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStore } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { writePrivate } from "../system/private-file.ts";
import { Audit } from "./audit.ts";
import { Auth } from "./auth.ts";
import { Revocations } from "./revocations.ts";

it("[AC243] a session that one node has revoked opens nothing at the others, and open connections end", async () => {
  const [one, other] = [
    mkdtempSync(join(tmpdir(), "blockyard-a-")),
    mkdtempSync(join(tmpdir(), "blockyard-b-")),
  ];
  const first = new Auth(one, "ann", Date.now);
  writePrivate(join(other, "token"), `${first.ownerToken}\n`);
  const second = new Auth(other, "ann", Date.now);
  const { audit } = new MemoryStore("epoch");
  const revocations = new Revocations(audit);
  await revocations.start();
  second.isRevoked = (session) => revocations.has(session);
  const opened = [0, 1].map(() => first.trade(first.makeLink(), "laptop"));
  const cookies = opened.map((each) => `blockyard-80-${each?.session.id}=${each?.cookie}`);
  const at = (i: number) => second.caller({ cookie: cookies[i] }, 80);
  const caller = at(0);
  expect([caller?.role, at(1)?.role]).toEqual(["owner", "owner"]);
  const log = new Audit(audit, () => undefined);
  const id = opened[0]?.session.id ?? "";
  await log.record({ agent: "ann", role: "owner", by: "token" }, "session.revoke", { id });
  await revocations.look();
  expect([at(0), at(1)?.role]).toEqual([undefined, "owner"]);
  expect(caller && second.isCurrent(caller)).toBe(false);
  // Many more than one check reads at a time.
  for (let i = 0; i < 2_500; i++)
    await log.record({ agent: "ann", role: "owner", by: "token" }, "session.revoke", { id: `s${i}` });
  await revocations.look();
  expect([revocations.has("s0"), revocations.has("s2499"), revocations.has("s2500")]).toEqual([
    true,
    true,
    false,
  ]);
  revocations.close();
  for (const home of [one, other]) rmSync(home, { recursive: true });
});
