/**
 * [R41] Frames that no client of ours would send: mutated JSON, mutated WebSocket framing, random bytes. All on bare
 * sockets after a valid upgrade, so that exactly the intended bytes arrive. The seed decides everything.
 */
import { connect, type Socket } from "node:net";
import { Random } from "../sim/random.ts";
import { UPGRADE } from "./harness.ts";

export interface Target {
  readonly port: number;
  readonly token: string;
  readonly conversation: string;
  readonly block: string;
}

export interface Fuzzed {
  readonly frames: number;
  readonly connections: number;
  /** How often the server closed a connection, by close code; 0: without one. */
  readonly closes: Readonly<Record<number, number>>;
  /** Frames that were answered. */
  readonly heard: number;
}

const PER_CONNECTION = 40;
const AT_ONCE = 4;

export async function fuzzFrames(
  target: Target,
  frames: number,
  seed: number,
  tell?: (done: number) => void,
): Promise<Fuzzed> {
  const random = new Random(seed);
  const sum = { frames: 0, connections: 0, closes: {} as Record<number, number>, heard: 0 };
  const worker = async () => {
    while (sum.frames < frames) {
      const batch = Array.from({ length: 1 + random.below(PER_CONNECTION) }, () => anyFrame(random, target));
      if (random.chance(0.9)) batch.unshift(encode(Buffer.from('{"type":"hello","protocol":1}')));
      sum.frames += batch.length;
      sum.connections++;
      const { code, heard } = await say(target, batch, random.chance(0.1));
      sum.closes[code] = (sum.closes[code] ?? 0) + 1;
      sum.heard += heard;
      if (sum.connections % 1_000 === 0) tell?.(sum.frames);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return sum;
}

/** Sends frames on a connection of their own; the code that it was closed with and how many frames came back. */
function say(
  target: Target,
  batch: readonly Buffer[],
  vanish: boolean,
): Promise<{ code: number; heard: number }> {
  return new Promise((done) => {
    const socket = upgraded(target);
    const result = { code: 0, heard: 0 };
    let isOpen = false;
    let bytes = Buffer.alloc(0);
    socket.on("data", (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      if (!isOpen) {
        const end = bytes.indexOf("\r\n\r\n");
        if (end < 0) return;
        isOpen = true;
        bytes = bytes.subarray(end + 4);
        socket.write(Buffer.concat(batch));
        // The end of a batch: the server answers it with a close of its own, whatever came before.
        if (vanish) socket.resetAndDestroy();
        else socket.write(encode(Buffer.from([0x03, 0xe8]), { opcode: 8 }));
      }
      for (let frame = decode(bytes); frame; frame = decode(bytes)) {
        bytes = bytes.subarray(frame.size);
        if (frame.opcode === 8)
          result.code = frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
        else result.heard++;
      }
    });
    // A frame that is cut short keeps the server waiting for its rest until it has not answered two pings.
    socket.setTimeout(45_000, () => {
      result.code = -1; // it hangs
      socket.destroy();
    });
    socket.on("close", () => done(result));
  });
}

export function upgraded({ port, token }: Pick<Target, "port" | "token">): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, ...UPGRADE };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /v1/feed HTTP/1.1\r\n${lines.join("")}\r\n`);
  return socket;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

interface Shape {
  readonly opcode?: number;
  readonly fin?: boolean;
  readonly rsv?: number;
  readonly masked?: boolean;
  /** What the header says, instead of how long it is. */
  readonly length?: number;
}

/** A frame of RFC 6455, right or wrong. */
export function encode(
  payload: Buffer,
  { opcode = 1, fin = true, rsv = 0, masked = true, length }: Shape = {},
): Buffer {
  const said = length ?? payload.length;
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  const mask = masked ? 0x80 : 0;
  if (said < 126) head.push(mask | said);
  else if (said < 65_536) head.push(mask | 126, said >> 8, said & 255);
  else head.push(mask | 127, ...bigEndian(said));
  const key = Buffer.from([1, 2, 3, 4]);
  const body = masked
    ? Buffer.concat([key, payload.map((byte, i) => byte ^ (key[i & 3] as number))])
    : payload;
  return Buffer.concat([Buffer.from(head), body]);
}

function bigEndian(value: number): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return [...bytes];
}

function decode(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] as number) & 127;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 2 + extra) return undefined;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const size = 2 + extra + length;
  if (bytes.length < size) return undefined;
  return { opcode: (bytes[0] as number) & 15, payload: bytes.subarray(2 + extra, size), size };
}

function anyFrame(random: Random, target: Target): Buffer {
  const text = () => Buffer.from(JSON.stringify(validFrame(random, target)));
  switch (random.below(100)) {
    case 0: // bits that mean nothing, or compression that was not agreed on
      return encode(text(), { opcode: random.below(16), rsv: random.below(8), fin: random.chance(0.8) });
    case 1: // a length that lies
      return encode(text(), { length: random.below(2 ** 31) });
    case 2:
      return encode(text(), { masked: false });
    case 3:
      return randomBytes(random, random.below(200));
    case 4: // no UTF-8
      return encode(randomBytes(random, random.below(300)));
    case 5: {
      const bytes = text();
      for (let i = 0; i < 3; i++) bytes[random.below(bytes.length)] = random.below(256);
      return encode(bytes);
    }
    case 6:
      return encode(text().subarray(0, random.below(60)));
    case 7:
      return encode(Buffer.from(JSON.stringify(mutate(random, validFrame(random, target)))));
    case 8: // fragments
      return Buffer.concat([
        encode(text(), { fin: false }),
        encode(text(), { opcode: 0, fin: random.chance(0.5) }),
      ]);
    case 9: // control frames, too long or with a strange code
      return encode(randomBytes(random, random.below(200)), { opcode: 8 + random.below(3) });
    default:
      return encode(text());
  }
}

function validFrame(random: Random, { conversation, block }: Target): Record<string, unknown> {
  const some = <T>(...values: T[]): T => values[random.below(values.length)] as T;
  const place = some(conversation, "nowhere", "", "x".repeat(200), "../../etc", "\u0000", "🙂");
  const id = some(block, `${conversation}/nobody/9`, "not an id", "a/b/c", "");
  const number = some(0, 1, 7, 2 ** 31, Number.MAX_SAFE_INTEGER);
  switch (random.chance(0.03) ? 0 : 1 + random.below(10)) {
    case 0:
      return { type: "hello", protocol: some(1, 1, 1, 0, 2, -1, 1.5) };
    case 1:
      return { type: "subscribe", sub: some(1, 2, 3, number), conversation: place, blocks: some(1, 10, 200) };
    case 2:
      return { type: "subscribe", sub: 1, conversation, since: { epoch: some("e", ""), seq: number } };
    case 3:
      return { type: "unsubscribe", sub: number };
    case 4:
      return { type: "page", sub: 1, before: number, limit: some(1, 200) };
    case 5:
      return { type: "want", sub: 1, blocks: Array.from({ length: random.below(20) }, () => id) };
    case 6:
      return {
        type: "call",
        id: number,
        tool: some("block.read", "block.list", "nothing"),
        input: { block_id: id },
      };
    case 7:
      return { type: "sync", block: id, vector: some("AA==", "AQ==", "####", "") };
    case 8:
      return {
        type: "update",
        id: number,
        block: id,
        update: some("AAA=", "/////w==", "AQEB"),
        key: `k${random.below(9)}`,
      };
    case 9:
      return { type: "unsync", block: id };
    default:
      return { type: "ping", n: number };
  }
}

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  [],
  {},
  [[[[]]]],
  "x".repeat(5_000),
  { a: { b: 1 } },
];

function mutate(random: Random, frame: Record<string, unknown>): unknown {
  const keys = Object.keys(frame);
  const key = keys[random.below(keys.length)] as string;
  const odd = ODD[random.below(ODD.length)];
  switch (random.below(4)) {
    case 0:
      return odd;
    case 1:
      return { ...frame, [key]: odd };
    case 2:
      return { ...frame, extra: odd };
    default:
      return Object.fromEntries(Object.entries(frame).filter(([name]) => name !== key));
  }
}

function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
