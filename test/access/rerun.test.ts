/**
 * [R46] Running a command again, on every transport: refused without a confirmation, with one that is old, used, or made
 * for something else, and for everybody but the owner. What is accepted runs byte for byte.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isEnded, isProblem } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestHarness } from "./harness.ts";
import { allTransports, type Transport } from "./transports.ts";

/** How far the server's clock is ahead: a minute passes without anybody waiting for it. */
let aheadMs = 0;
let harness: TestHarness;
let conversation = "";
let marker = "";
const transports = {} as Record<"owner" | "agent" | "viewer", readonly Transport[]>;

beforeAll(async () => {
  harness = await TestHarness.start({}, { ...nodeEnv, monotonic: () => performance.now() + aheadMs });
  marker = join(harness.root, "ran");
  conversation = (await harness.call("conversation.create", { title: "again" }))["conversation"] ?? "";
  transports.owner = await allTransports(harness, harness.owner);
  transports.agent = await allTransports(harness, harness.agent("bob"));
  transports.viewer = await allTransports(harness, harness.viewer("wall"));
});
afterAll(async () => {
  for (const transport of Object.values(transports).flat()) await transport.close();
  await harness.stop();
});

async function command(text: string, cwd = harness.root): Promise<string> {
  const metadata = { command: text, cwd };
  const made = { conversation, kind: "command", role: "tool", status: "done", metadata };
  return (await harness.call("block.create", made))["block_id"] ?? "";
}

async function confirm(transport: Transport, block_id: string): Promise<string> {
  const answer = (await transport.call("command.confirm", { block_id })) as { confirmation?: string };
  return answer.confirmation ?? "";
}

async function ended(id: string): Promise<{ readonly text: string; readonly metadata: object }> {
  const { kernel } = harness.running;
  for (;;) {
    const whole = await kernel.whole(id);
    if (isProblem(whole)) throw new Error(whole.message);
    if (isEnded(whole.status)) return whole;
    await new Promise<void>((resolve) => {
      const stop = kernel.listen(() => {
        stop();
        resolve();
      });
    });
  }
}

/** A command that would leave its mark, and what somebody does with it before it is to run. */
interface Row {
  readonly title: string;
  readonly problem: string;
  /** The confirmation that is sent; undefined: none. */
  prepare(transport: Transport, block: string): Promise<string | undefined>;
}

const edited = (metadata: object) => async (transport: Transport, block: string) => {
  const confirmation = await confirm(transport, block);
  await harness.call("block.status", { block_id: block, metadata });
  return confirmation;
};

const refusals: readonly Row[] = [
  { title: "none", problem: "invalid", prepare: async () => undefined },
  { title: "an invented one", problem: "conflict", prepare: async () => "x".repeat(32) },
  {
    title: "one for another block",
    problem: "conflict",
    prepare: async (transport) => confirm(transport, await command("true")),
  },
  {
    title: "one that is a minute old",
    problem: "conflict",
    prepare: async (transport, block) => {
      const confirmation = await confirm(transport, block);
      aheadMs += 60_000;
      return confirmation;
    },
  },
  {
    title: "one whose block got another command",
    problem: "conflict",
    prepare: (transport, block) => edited({ command: `touch ${marker}; true` })(transport, block),
  },
  {
    title: "one whose block got another folder",
    problem: "conflict",
    prepare: (transport, block) => edited({ cwd: "/" })(transport, block),
  },
  {
    title: "one whose block was touched at all",
    problem: "conflict",
    prepare: edited({ description: "harmless" }),
  },
];

describe.each(["http", "ws"] as const)("over %s", (name) => {
  const transportOf = (role: keyof typeof transports) =>
    transports[role].find((transport) => transport.name === name) as Transport;

  it.each(refusals)("[D9] a confirmation is refused: $title", async ({ problem, prepare }) => {
    const transport = transportOf("owner");
    const block_id = await command(`touch ${marker}`);
    const confirmation = await prepare(transport, block_id);
    const answer = await transport.call("command.run", {
      block_id,
      ...(confirmation === undefined ? {} : { confirmation }),
    });
    expect(answer).toMatchObject({ problem });
    // Refused once is refused for good.
    if (confirmation !== undefined)
      expect(await transport.call("command.run", { block_id, confirmation })).toMatchObject({
        problem: "conflict",
      });
    expect(existsSync(marker)).toBe(false);
  });

  it("[D9] a confirmation is refused: its folder leads elsewhere by now", async () => {
    const transport = transportOf("owner");
    const [link, elsewhere] = [join(harness.root, "link"), join(harness.root, "elsewhere")];
    mkdirSync(elsewhere, { recursive: true });
    symlinkSync(harness.root, link);
    const block_id = await command(`touch ${marker}`, link);
    const confirmation = await confirm(transport, block_id);
    rmSync(link);
    symlinkSync(elsewhere, link);
    expect(await transport.call("command.run", { block_id, confirmation })).toMatchObject({
      problem: "conflict",
    });
    rmSync(link);
    expect(existsSync(marker)).toBe(false);
  });

  it("[D9] one is good once, also for two at the same moment, and on no other transport", async () => {
    const block_id = await command(`echo run >> ${marker}`);
    const confirmation = await confirm(transportOf("owner"), block_id);
    const everywhere = [...transports.owner, ...transports.owner];
    const answers = await Promise.all(
      everywhere.map((transport) => transport.call("command.run", { block_id, confirmation })),
    );
    const started = answers.filter((answer) => !isProblem(answer)) as { block_id: string }[];
    expect(started).toHaveLength(1);
    await ended(started[0]!.block_id);
    for (const transport of transports.owner)
      expect(await transport.call("command.run", { block_id, confirmation })).toMatchObject({
        problem: "conflict",
      });
    expect(readFileSync(marker, "utf8")).toBe("run\n");
    rmSync(marker);
  });

  it.each(["agent", "viewer"] as const)(
    "[D9] the %s can neither confirm nor run, also with the owner's",
    async (role) => {
      const block_id = await command(`touch ${marker}`);
      const confirmation = await confirm(transportOf("owner"), block_id);
      const start = harness.lines.length;
      for (const tool of ["command.confirm", "command.run", "command.stop"]) {
        const input = tool === "command.run" ? { block_id, confirmation } : { block_id };
        expect(await transportOf(role).call(tool, input)).toMatchObject({ problem: "forbidden" });
      }
      expect(harness.refusals(start)).toHaveLength(3);
      expect(existsSync(marker)).toBe(false);
      // It was not used up by those who may not.
      const { block_id: started } = (await transportOf("owner").call("command.run", {
        block_id,
        confirmation,
      })) as { block_id: string };
      await ended(started);
      expect(existsSync(marker)).toBe(true);
      rmSync(marker);
    },
  );

  it("[D8] what was shown runs, byte for byte", async () => {
    const transport = transportOf("owner");
    const odd = "'a  b' \"é🎉\" \u202E \u00A0\t#\n: next $((1+1)) `echo x`";
    // The shell itself says what it was given.
    const text = `printf %s "$BASH_EXECUTION_STRING"; : ${odd}`;
    const block_id = await command(text);
    const shown = (await transport.call("command.confirm", { block_id })) as Record<string, string>;
    expect(shown["command"]).toBe(text);
    const { block_id: started } = (await transport.call("command.run", {
      block_id,
      confirmation: shown["confirmation"],
    })) as { block_id: string };
    const block = await ended(started);
    expect(Buffer.from(block.text).toString("hex")).toBe(Buffer.from(text).toString("hex"));
    expect(block.metadata).toMatchObject({ command: text, exitCode: 0 });
  });
});
