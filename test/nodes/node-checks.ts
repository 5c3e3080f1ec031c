/** [R25] Nodes that are killed, or stand still and go on; and what is asked at one for a turn of the other. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isFull, require } from "../checks.ts";
import { CUTS, type Plan, RECORDING } from "../e2e/lifecycle/world.ts";
import type { Called } from "../e2e/server.ts";
import { type NodesCheck, newConversation, requireEverything } from "./check.ts";
import { type Node, until } from "./harness.ts";
import { Viewer } from "./viewer.ts";
import { Writer } from "./writer.ts";

const KILLS = isFull ? 100 : 10;
const STOP_MS = isFull ? 30_000 : 5_000;
/** Longer than a lease. */
const LONG_STOP_MS = isFull ? 30_000 : 22_000;
/** A lease, a beat, and room. */
const NOTICED_MS = 30_000;

const ASKING = fileURLToPath(
  new URL("../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);

interface Listed {
  readonly turn: string;
  readonly status: string;
  readonly reason?: string;
}

async function startTurn(node: Node, conversation: string, plan: Partial<Plan> = {}): Promise<string> {
  const prompt = JSON.stringify({ recording: RECORDING, lines: CUTS.callRunning, act: "stay", ...plan });
  return (await node.do("turn.start", { conversation, provider: "claude", prompt })).turn;
}

async function turnsAt(node: Node, conversation: string): Promise<readonly Listed[]> {
  return (await node.do("turn.list", { conversation })).turns;
}

async function hasBegun(node: Node, conversation: string): Promise<void> {
  await until("the agent has called a tool", 10_000, async () => {
    const { blocks } = await node.do("conversation.read", { conversation });
    return (blocks as { kind: string }[]).some(({ kind }) => kind === "tool_call") || undefined;
  });
}

async function requireClosed(node: Node, conversation: string): Promise<void> {
  const { blocks } = await node.do("conversation.read", { conversation });
  const open = (blocks as { status: string }[]).filter(
    ({ status }) => status !== "done" && status !== "error",
  );
  require(open.length === 0, `${open.length} blocks are still open`);
}

export const nodeChecks: readonly NodesCheck[] = [
  {
    title: `[R25] [N1] one of two nodes is killed, ${KILLS} times, while viewers go to the other and writers write`,
    async run(harness) {
      const conversation = await newConversation(harness, "kills");
      const viewers = [0, 1, 0, 1].map((node) => new Viewer(harness, node, conversation));
      const writers = ["a", "b", "c"].map((name, i) => new Writer(harness, i, conversation, name, 20));
      try {
        for (let kill = 0; kill < KILLS; kill++) {
          await sleep(700);
          const node = harness.nodes[kill % 2] as Node;
          await node.end("SIGKILL");
          await sleep(500);
          await node.run();
        }
        await sleep(1_000);
        for (const writer of writers) await writer.stop();
        const count = await requireEverything(harness, conversation, writers, viewers, 5_000);
        const retries = writers.reduce((sum, writer) => sum + writer.retries, 0);
        const connections = viewers.reduce((sum, viewer) => sum + viewer.connections, 0);
        require(retries > 0 && connections > viewers.length, "nobody noticed: this shows nothing");
        return `${count} acknowledged, 0 lost, 0 twice; ${retries} sent again, ${connections} connections`;
      } finally {
        for (const writer of writers) void writer.stop();
        for (const viewer of viewers) viewer.close();
      }
    },
  },
  {
    title: "[R25] [N6] a node that starts leaves a turn of the other alone; one that dies is noticed, once",
    async run(harness) {
      const [a, b] = harness.nodes;
      const [held, dead] = [await newConversation(harness, "held"), await newConversation(harness, "dead")];
      await startTurn(b, held);
      await startTurn(a, dead);
      for (const [node, conversation] of [
        [b, held],
        [a, dead],
      ] as const)
        await hasBegun(node, conversation);
      const began = Date.now();
      await a.end("SIGKILL");
      await a.run();
      require((await turnsAt(a, held))[0]?.status === "running", "the start ended a turn of a living node");
      const turn = await until("the dead node's turn has ended", NOTICED_MS, async () =>
        (await turnsAt(b, dead)).find(({ status }) => status !== "running"),
      );
      const took = Date.now() - began;
      require(turn.reason === "interrupted", `it ended as ${turn.reason}`);
      await requireClosed(b, dead);
      require((await turnsAt(a, held))[0]?.status === "running", "a turn of a living node was ended");
      await b.do("turn.stop", { conversation: held });
      return `noticed after ${(took / 1_000).toFixed(1)} s`;
    },
  },
  {
    title: `[R25] a node stands still for ${STOP_MS / 1_000} s and goes on: no stale write is accepted, nothing is lost`,
    async run(harness) {
      const [a, b] = harness.nodes;
      const conversation = await newConversation(harness, "still");
      const made = { conversation, kind: "text", role: "user", status: "done", content: "one\ntwo\n" };
      const { block_id } = await a.do("block.create", made);
      const viewers = [new Viewer(harness, 0, conversation), new Viewer(harness, 1, conversation)];
      const writers = [
        new Writer(harness, 0, conversation, "a", 50),
        new Writer(harness, 1, conversation, "b", 50),
      ];
      const change = (start_line: number, content: string, expected_text: string) => ({
        block_id,
        operations: [{ op: "replace", start_line, end_line: start_line + 1, content, expected_text }],
      });
      try {
        await sleep(1_000);
        a.signal("SIGSTOP");
        // They wait in its sockets: one means a line that is going to be changed, one a line that is not.
        const stale = sent(a, change(0, "ONE of a\n", "one"), "stale");
        const fine = sent(a, change(1, "TWO of a\n", "two"), "fine");
        await sleep(200);
        await b.do("block.edit", change(0, "ONE of b\n", "one"));
        await sleep(STOP_MS);
        a.signal("SIGCONT");
        const [refused, taken] = await Promise.all([stale, fine]);
        require(refused.status !== 200, "a stale write was accepted");
        require(taken.status === 200, `a good one was refused: ${JSON.stringify(taken.body)}`);
        for (const writer of writers) await writer.stop();
        await requireEverything(harness, conversation, writers, viewers, 5_000);
        for (const node of harness.nodes) {
          const { content } = await node.do("block.read", { block_id, line_numbers: false });
          require(content === "ONE of b\nTWO of a\n", `it reads ${JSON.stringify(content)}`);
        }
        return `the stale one was answered ${refused.body.problem}`;
      } finally {
        a.signal("SIGCONT");
        for (const writer of writers) void writer.stop();
        for (const viewer of viewers) viewer.close();
      }
    },
  },
  {
    title: `[R25] [N9] a node stands still for ${LONG_STOP_MS / 1_000} s with a turn: it is ended, once, and stays ended`,
    async run(harness) {
      const [a, b] = harness.nodes;
      const conversation = await newConversation(harness, "fenced");
      const viewer = new Viewer(harness, 1, conversation);
      const ends: string[] = [];
      try {
        const turn = await startTurn(a, conversation);
        await hasBegun(a, conversation);
        viewer.replica.listen(() => {
          const now = viewer.view.turns.get(turn);
          const state = `${now?.status} ${now?.reason ?? ""}`.trim();
          if (ends.at(-1) !== state) ends.push(state);
        });
        a.signal("SIGSTOP");
        await sleep(LONG_STOP_MS);
        require((await turnsAt(b, conversation))[0]?.reason === "interrupted", "nobody has ended it");
        a.signal("SIGCONT");
        await sleep(3_000);
        const [now] = await turnsAt(a, conversation);
        require(now?.status === "error" &&
          now.reason === "interrupted", `it is ${now?.status} ${now?.reason}`);
        await requireClosed(a, conversation);
        require((await health(a, harness.token)).turns === 0, "it still runs there");
        const told = ends.filter((state) => state !== "running");
        require(told.join() === "error interrupted", `a viewer saw ${ends.join(", ")}`);
        return "";
      } finally {
        a.signal("SIGCONT");
        viewer.close();
      }
    },
  },
  {
    title: "[N7] a turn is stopped, and what it asks is answered, at the node that does not run it",
    async run(harness) {
      const [a, b] = harness.nodes;
      const stopped = await newConversation(harness, "stop");
      await startTurn(a, stopped);
      await hasBegun(b, stopped);
      const began = Date.now();
      const answer = await b.do("turn.stop", { conversation: stopped });
      const took = Date.now() - began;
      require(answer.stopped === 1, `stopped ${answer.stopped}`);
      const [turn] = await turnsAt(a, stopped);
      require(turn?.reason === "cancelled", `it ended as ${turn?.reason}`);

      const asked = await newConversation(harness, "ask");
      const answers = join(a.config.home, "answers.jsonl");
      await startTurn(a, asked, { recording: ASKING, lines: 0, act: "ask", answers });
      for (let n = 0; n < 3; n++) await allow(b, asked, n);
      const ended = await until("it has ended", 10_000, async () =>
        (await turnsAt(b, asked)).find(({ status }) => status !== "running"),
      );
      require(ended.status === "done", `it ended as ${ended.status}`);
      const heard = existsSync(answers) ? readFileSync(answers, "utf8").trim().split("\n") : [];
      require(heard.length === 3, `the agent heard ${heard.length} answers`);
      return `stopped after ${took} ms; three answers`;
    },
  },
];

/** An edit; where the connection is cut (a node that stood still first sees what has timed out) it is sent again with its key. */
function sent(node: Node, input: object, key: string): Promise<Called> {
  const send = () => node.call("block.edit", input, key);
  return send().catch(send);
}

async function allow(node: Node, conversation: string, number: number): Promise<void> {
  const asked = await until(`request ${number}`, 10_000, async () => {
    const { blocks } = await node.do("conversation.read", { conversation });
    const ids = (blocks as { block_id: string }[]).map(({ block_id }) => block_id);
    const read = await Promise.all(ids.map((block_id) => node.do("block.read", { block_id })));
    const asking = read.filter(({ metadata }) => metadata.ask?.state === "asked");
    const before = read.filter(({ metadata }) => ["allowed", "denied"].includes(metadata.ask?.state));
    return before.length === number ? asking[0] : undefined;
  });
  const ask_id = asked.metadata.ask.id;
  await node.do("turn.answer", { block_id: asked.block_id, ask_id, allow: true });
}

async function health({ url }: Node, token: string): Promise<{ turns: number }> {
  const answer = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as { turns: number };
}
