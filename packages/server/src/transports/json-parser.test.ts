/** Long bodies are parsed in a thread that is ended if it uses too much. */
import { isProblem, limits } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { JsonParser } from "./json-parser.ts";

let parser: JsonParser | undefined;
afterEach(() => parser?.close());

const bytesOf = (text: string) => Buffer.from(text);
const LONG = "x".repeat(300_000);

/** A thread whose program is this text. */
const program = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const PORT = 'import { parentPort } from "node:worker_threads";';
const LISTEN = `${PORT} parentPort.postMessage("ready"); parentPort.on("message", (bytes) => `;

describe("bodies of requests", () => {
  it("[AC223] are the same JSON, long or short, and refused for the same reasons", async () => {
    parser = new JsonParser();
    expect(await parser.parse(bytesOf(" "), false)).toEqual({ json: {} });
    expect(await parser.parse(bytesOf('{"a":1}'), false)).toEqual({ json: { a: 1 } });
    expect(await parser.parse(bytesOf(JSON.stringify({ a: LONG })), false)).toEqual({ json: { a: LONG } });
    const twice = await parser.parse(bytesOf(`{"a":1,"a":"${LONG}"}`), false);
    expect(twice).toMatchObject({ problem: "invalid" });
    const many = await parser.parse(bytesOf(`[${"0,".repeat(limits.callValues)}0]`), false);
    expect(many).toMatchObject({ problem: "too_large", details: { max_values: limits.callValues } });
  });

  it("[AC223] a thread that does not come back is ended, and the next body has another", async () => {
    const stuck = `${LISTEN} { if (bytes.length > 400000) for (;;); parentPort.postMessage({ json: 1 }); });`;
    parser = new JsonParser(program(stuck), 300);
    const [bad, good] = await Promise.all([
      parser.parse(bytesOf(LONG + LONG), false),
      parser.parse(bytesOf(LONG), false),
    ]);
    expect(isProblem(bad) && bad.problem).toBe("too_large");
    expect(good).toEqual({ json: 1 });
  });

  it("[AC223] a thread that starts slowly takes none of the body's time", async () => {
    const slow = `${PORT} await new Promise((go) => setTimeout(go, 3000)); ${LISTEN.slice(PORT.length)} parentPort.postMessage({ json: 1 }));`;
    parser = new JsonParser(program(slow), 2_000);
    expect(await parser.parse(bytesOf(LONG), false)).toEqual({ json: 1 });
  });

  it("[AC223] a thread that uses too much memory ends alone", async () => {
    const greedy = `${LISTEN} { const all = []; if (bytes.length > 400000) for (;;) all.push(new Array(1e6).fill(all.length)); parentPort.postMessage({ json: 1 }); });`;
    parser = new JsonParser(program(greedy), 60_000);
    expect(await parser.parse(bytesOf(LONG + LONG), false)).toMatchObject({ problem: "too_large" });
    expect(await parser.parse(bytesOf(LONG), false)).toEqual({ json: 1 });
  });

  it("[AC223] the owner's come first, and all are answered when it closes", async () => {
    parser = new JsonParser(program(`${LISTEN} parentPort.postMessage({ json: bytes[0] }));`));
    const order: unknown[] = [];
    const send = (name: string, isOwners: boolean) =>
      parser?.parse(bytesOf(name + LONG), isOwners).then((parsed) => order.push(parsed));
    await Promise.all([send("a", false), send("b", false), send("c", true)]);
    expect(order).toEqual([..."acb"].map((name) => ({ json: name.charCodeAt(0) })));
    const last = parser.parse(bytesOf(LONG), false);
    await parser.close();
    expect(await last).toMatchObject({ problem: "unavailable" });
  });
});
