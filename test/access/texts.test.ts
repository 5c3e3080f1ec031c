/** [R34] Texts that some layer between a caller and the disk likes to change: everybody must hold the same one. */

import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { TestHarness } from "./harness.ts";
import { allTransports, openReplica, readWhole } from "./transports.ts";

const texts: readonly (readonly [string, string])[] = [
  ["half a pair in the middle", "a\ud800b"],
  ["the other half", "\udc00 tail"],
  ["halves in the wrong order", "\udc00\ud800"],
  ["half a pair at the end", "end\ud83d"],
  ["zero bytes", "a\u0000b\u0000"],
  ["a mark at the beginning", "\ufefftext"],
  ["CRLF and CR", "one\r\ntwo\rthree\r\n"],
  ["other line ends", "a\u2028b\u2029c\u0085d\u000be\u000cf"],
  ["no characters", "\ufffe\uffff\u{10ffff}"],
  ["combined and apart", "e\u0301 \u00e9 \u{1f469}\u200d\u{1f4bb}"],
  ["directions", "\u202eabc\u202c \u2066x\u2069"],
  ["controls", "\u001b[31mred\u001b[0m\u0007\u009b"],
  ["a replacement character", "\ufffd"],
  ["a long line", "x".repeat(300_000)],
  ["what looks like an escape", "\\ud800 \\u0000 \\n"],
];

describe("[R34] odd texts", () => {
  it("[AC25] are the same in memory, on disk, for a viewer and on every transport, or are refused in the same way", async () => {
    const harness = await TestHarness.start();
    const { conversation = "" } = await harness.call("conversation.create", { title: "odd" });
    const teller = harness.agent("teller");
    const { replica, socket } = await openReplica(harness.running.url, harness.owner);
    const view = replica.subscribe(conversation);
    const kept = new Map<string, string>();
    for (const [name, content] of texts) {
      const seen = new Set<string>();
      for (const transport of await allTransports(harness, teller)) {
        const made = await transport.call("block.create", {
          conversation,
          kind: "text",
          role: "model",
          content,
        });
        if (isProblem(made)) seen.add(made.problem);
        else {
          const { block_id } = made as { block_id: string };
          const whole = await harness.running.kernel.whole(block_id);
          if (isProblem(whole)) throw new Error(whole.message);
          kept.set(block_id, whole.text);
          seen.add(whole.text);
          const { text } = await readWhole(transport, block_id);
          expect([name, transport.name, text]).toEqual([name, transport.name, whole.text]);
        }
        await transport.close();
      }
      expect([name, seen.size]).toEqual([name, 1]);
    }
    expect(kept.size).toBeGreaterThan(30);
    const last = await harness.running.kernel.conversation(conversation);
    if (isProblem(last)) throw new Error(last.message);
    if ((view.since?.seq ?? 0) < last.seq)
      await new Promise<void>((there) => replica.listen(() => (view.since?.seq ?? 0) >= last.seq && there()));
    const missing = [...kept.keys()].filter((id) => !view.texts.has(id));
    const arrived = new Promise<void>((there) => {
      replica.listen(() => missing.every((id) => view.texts.has(id)) && there());
    });
    replica.want(view, missing);
    if (missing.length > 0) await arrived;
    for (const [id, text] of kept) expect(view.texts.get(id)?.toString()).toBe(text);
    socket.terminate();
    await harness.running.stop();
    const again = await TestHarness.start({ home: harness.home });
    for (const [id, text] of kept) {
      expect(await again.running.store.text(id)).toBe(text);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain("\u0000");
    }
    await again.stop();
  }, 60_000);

  it("[AC25] bytes that are no UTF-8 become what they become once, and stay so", async () => {
    const harness = await TestHarness.start();
    const { conversation = "" } = await harness.call("conversation.create", { title: "bytes" });
    const bytes = Buffer.concat([
      Buffer.from(`{"conversation":"${conversation}","kind":"text","role":"user","content":"a`),
      Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f]),
      Buffer.from('b"}'),
    ]);
    const response = await fetch(`${harness.running.url}/v1/tools/block.create`, {
      method: "POST",
      headers: { authorization: `Bearer ${harness.owner}` },
      body: bytes,
    });
    const { block_id } = (await response.json()) as { block_id: string };
    const whole = await harness.running.kernel.whole(block_id);
    expect(isProblem(whole) ? "" : whole.text).toMatch(/^a\ufffd+\(?\ufffd*\(?\ufffd*b$/);
    await harness.stop();
  });
});

describe("[R47] the port", () => {
  it("[AC11] is this machine's alone: no other address of it answers", async () => {
    const harness = await TestHarness.start();
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4")
      .map(({ address }) => address);
    for (const host of others) {
      const code = await new Promise<string>((done) => {
        const socket = connect({ host, port: harness.port, timeout: 2_000 });
        socket.on("connect", () => done("connected"));
        socket.on("error", (error: NodeJS.ErrnoException) => done(error.code ?? ""));
        socket.on("timeout", () => done("timeout"));
      });
      expect([host, code]).not.toEqual([host, "connected"]);
    }
    await harness.stop();
  });
});
