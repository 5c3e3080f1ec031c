// What needs no broker: that nobody waits for one. With a real one: `npm run nodes`.

import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { makeConfig } from "../../config/config.ts";
import { natsBroadcast } from "./nats.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

describe("[N11] a broker", () => {
  for (const [how, first] of [
    ["that is not there", undefined],
    ["that says nothing", ""],
    ["that is something else", "HTTP/1.1 400 Bad Request\r\n\r\n"],
  ] as const) {
    it(`${how} holds up nobody`, async () => {
      let isTried = false;
      const port = first === undefined ? 9 : await listen(first, () => (isTried = true));
      const logged: string[] = [];
      const broadcast = natsBroadcast(`nats://ann:hunter2@127.0.0.1:${port}`, "e", (_, event, fields) =>
        logged.push(`${event} ${JSON.stringify(fields)}`),
      );
      for (let seq = 0; seq < 10_000; seq++)
        broadcast.send({ type: "hints", hints: [{ conversation: "c", seq }] });
      await expect.poll(() => isTried || logged.length > 0).toBe(true);
      await broadcast.close();
      expect(logged.join("\n")).not.toContain("hunter2");
    });
  }

  it("is named by an address of the right kind; any other is not echoed", () => {
    const config = (nats: string) => makeConfig({ env: { BLOCKYARD_NATS: nats }, root: "." });
    expect(config("nats://127.0.0.1:4222").nats).toBe("nats://127.0.0.1:4222");
    expect(config("").nats).toBeUndefined();
    expect(makeConfig({ env: {}, nats: "tls://broker", root: "." }).nats).toBe("tls://broker");
    for (const wrong of ["127.0.0.1:4222", "http://ann:hunter2@host", "nats://", "hunter2"])
      expect(() => config(wrong)).toThrow(
        /^--nats takes an address like nats:\/\/host:4222 or tls:\/\/host:4222$/,
      );
  });
});

function listen(first: string, onCall: () => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    onCall();
    socket.on("error", () => undefined);
    socket.write(first);
  });
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new Promise((ready) => {
    server.listen(0, "127.0.0.1", () => ready((server.address() as { port: number }).port));
  });
}
