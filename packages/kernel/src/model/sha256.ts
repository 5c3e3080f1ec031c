/**
 * SHA-256, for names derived from text that nobody may steer: ids of conversations made by imports and keys. We have our own
 * because the kernel also runs where the only crypto is asynchronous. Not for secrets (it is not constant-time) and not for large
 * texts (it is about ten times slower than a native one).
 */

const ROUNDS = 64;

/** The first bits of the fractional parts of the cube roots (`k`) and square roots (`h`) of the first primes. */
const { k: K, h: H } = constants();

export function sha256(bytes: Uint8Array): Uint8Array {
  const state = Uint32Array.from(H);
  const padded = pad(bytes);
  const view = new DataView(padded.buffer);
  const words = new Uint32Array(ROUNDS);
  for (let at = 0; at < padded.length; at += 64) compress(state, words, view, at);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, word] of state.entries()) digest.setUint32(i * 4, word);
  return new Uint8Array(digest.buffer);
}

/** A one bit, zeros, and the length in bits, to whole blocks of 64 bytes. */
function pad(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  return padded;
}

function compress(state: Uint32Array, w: Uint32Array, view: DataView, at: number): void {
  for (let i = 0; i < ROUNDS; i++) {
    if (i < 16) w[i] = view.getUint32(at + i * 4);
    else {
      const early = word(w, i - 15);
      const late = word(w, i - 2);
      const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1;
    }
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(K, i) + word(w, i)) | 0;
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = word(state, i) + value;
}

function turned(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

function word(words: Uint32Array, at: number): number {
  return words[at] as number;
}

function constants(): { readonly k: Uint32Array; readonly h: Uint32Array } {
  const primes: number[] = [];
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const bits = (root: number) => ((root - Math.floor(root)) * 0x100000000) >>> 0;
  return {
    k: Uint32Array.from(primes, (prime) => bits(Math.cbrt(prime))),
    h: Uint32Array.from(primes.slice(0, 8), (prime) => bits(Math.sqrt(prime))),
  };
}
