/** Servers on one PostgreSQL database: started, looked at and stopped as people do it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, serve } from "../../packages/server/src/app/serve.ts";
import { examine } from "../../packages/server/src/cli/doctor-checks.ts";
import { makeConfig } from "../../packages/server/src/config/config.ts";
import { SCHEMA_VERSION } from "../../packages/server/src/stores/postgres/schema.ts";
import { require } from "../checks.ts";
import { known, type StoreCheck } from "./check.ts";
import type { TestServer } from "./server.ts";

export const servingChecks: readonly StoreCheck[] = [
  {
    title:
      "[AC51] what an agent holds stays open whichever nodes go; what a node ran is closed by one that starts alone",
    run: (server) =>
      withNodes(server, async (start) => {
        const first = await start();
        const conversation = known(await first.kernel.createConversation("ann", "nodes"));
        const block = known(
          await first.kernel.write(conversation, {
            agent: "ann",
            plan: (draft) => draft.create({ kind: "text", role: "model", text: "a", status: "running" }),
          }),
        );
        const ran = known(
          await first.kernel.write(conversation, {
            agent: "claude",
            plan: (draft) => {
              const { node } = first.kernel;
              const turn = {
                id: "t",
                provider: "claude",
                agent: "claude",
                status: "running",
                startedAt: 0,
              } as const;
              draft.setTurn({ ...turn, ...(node === undefined ? {} : { node }) });
              return draft.create({
                kind: "text",
                role: "model",
                text: "b",
                status: "running",
                metadata: { turn: "t" },
              });
            },
          }),
        );
        const second = await start();
        const status = async (node: Running, id = block.id) => known(await node.kernel.block(id)).status;
        for (const id of [block.id, ran.id])
          require((await status(second, id)) ===
            "running", "the second node has closed what the first has open");
        await first.stop();
        await second.stop();
        const third = await start();
        require((await status(third)) === "running", "a restart has closed what an agent holds");
        require((await status(third, ran.id)) === "error", "what was left open stays open");
        await third.stop();
      }),
  },
  {
    title: "[AC54] [S31] the doctor tells of the database and changes nothing; nothing tells the password",
    run: (server) =>
      withNodes(server, async (start, { url, home, lines }) => {
        const look = async (database: string) => {
          const config = makeConfig({ env: { BLOCKYARD_DATABASE: database }, home, root: home });
          const findings = await examine(home, {}, config.database);
          lines.push(JSON.stringify(findings));
          return findings.find(({ check }) => check === "database");
        };
        const before = await look(url);
        require(before?.state === "ok" && before.message.includes("no tables yet"), before?.message ?? "");
        require((await look(url))?.message.includes("no tables yet") === true, "the doctor has made tables");
        const node = await start();
        const health = await fetch(`${node.url}/health`, {
          headers: { authorization: `Bearer ${node.auth.ownerToken}` },
        });
        lines.push(await health.text());
        const after = (await look(url))?.message ?? "";
        require(after.includes(`schema ${SCHEMA_VERSION}`), after);
        await node.stop();
        const wrong = new URL(url);
        wrong.pathname = "/nowhere";
        const found = await look(wrong.href);
        require(found?.state === "fail" && found.fix !== undefined, found?.message ?? "");
        const { password } = new URL(url);
        for (const secret of [password, decodeURIComponent(password)])
          require(!lines.join("\n").includes(secret), "the password was told");
      }),
  },
];

interface Place {
  readonly url: string;
  readonly home: string;
  /** What was logged. */
  readonly lines: string[];
}

async function withNodes(
  server: TestServer,
  work: (start: () => Promise<Running>, place: Place) => Promise<void>,
): Promise<undefined> {
  const url = await server.newDatabase();
  const folder = mkdtempSync(join(tmpdir(), "blockyard-nodes-"));
  const lines: string[] = [];
  let nodes = 0;
  const start = () =>
    serve(
      makeConfig({ env: {}, home: join(folder, `${nodes++}`), root: folder, port: 0, database: url }),
      (level, event, more) => lines.push(JSON.stringify({ level, event, more })),
    );
  try {
    await work(start, { url, home: folder, lines });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return undefined;
}
