/**
 * Lists of ascending numbers, as bytes: the ranks of the blocks that hold a token, the pages that hold a gram.
 *
 * Format: one byte that says which of two follows: 0, the gaps between the numbers as varints (7 bits a byte, least significant
 * first), or 1, a bit for every number from 0 on, whichever is shorter. How many numbers there are is kept by who keeps the list.
 */

const GAPS = 0;
const BITS = 1;

/** Accepts numbers one by one, ascending. */
export class PostingWriter {
  #bytes: Uint8Array;
  #length = 0;
  count = 0;
  #next = 0;

  constructor(capacity = 16) {
    this.#bytes = new Uint8Array(capacity);
  }

  get last(): number {
    return this.#next - 1;
  }

  add(number: number): void {
    if (this.#length + 5 > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#length = putVarint(this.#bytes, this.#length, number - this.#next);
    this.#next = number + 1;
    this.count++;
  }

  clear(): void {
    this.#length = this.count = this.#next = 0;
  }

  /** The list; memory of its own only if it is a bitmap. */
  encoded(): { readonly mode: number; readonly body: Uint8Array } {
    const bits = Math.ceil(this.#next / 8);
    const gaps = this.#bytes.subarray(0, this.#length);
    if (bits >= this.#length) return { mode: GAPS, body: gaps };
    const body = new Uint8Array(bits);
    visitGaps(gaps, this.count, (number) => {
      (body[number >>> 3] as number) |= 1 << (number & 7);
    });
    return { mode: BITS, body };
  }
}

/** The numbers of a list with its first byte. */
export function decodePostings(bytes: Uint8Array, count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  let at = 0;
  if (bytes[0] === GAPS) {
    let next = 0;
    let from = 1;
    while (at < count) {
      let gap = 0;
      let shift = 0;
      let byte = bytes[from++] as number;
      while (byte > 0x7f) {
        gap |= (byte & 0x7f) << shift;
        shift += 7;
        byte = bytes[from++] as number;
      }
      next += gap | (byte << shift);
      numbers[at++] = next++;
    }
    return numbers;
  }
  for (let i = 1; i < bytes.length && at < count; i++) {
    for (let byte = bytes[i] as number; byte !== 0; byte &= byte - 1)
      numbers[at++] = (i - 1) * 8 + (31 - Math.clz32(byte & -byte));
  }
  return numbers;
}

/** The numbers that are in both lists. */
export function intersect(a: Uint32Array, b: Uint32Array): Uint32Array {
  const [few, many] = a.length <= b.length ? [a, b] : [b, a];
  const both = new Uint32Array(few.length);
  let count = 0;
  let at = 0;
  for (let i = 0; i < few.length; i++) {
    const number = few[i] as number;
    at = seek(many, number, at);
    if (at === many.length) break;
    if (many[at] === number) both[count++] = number;
  }
  return both.subarray(0, count);
}

/** The numbers that are in any of the lists. */
export function unite(lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length === 1) return lists[0] as Uint32Array;
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let count = 0;
  for (const list of lists) {
    all.set(list, count);
    count += list.length;
  }
  all.sort();
  let kept = 0;
  for (let i = 0; i < count; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i] as number;
  return all.subarray(0, kept);
}

export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  let next = at;
  while (rest > 0x7f) {
    bytes[next++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[next++] = rest;
  return next;
}

/** The first place from `from` on whose number is not smaller: in growing steps, then by halves. */
function seek(list: Uint32Array, number: number, from: number): number {
  let low = from;
  let step = 1;
  while (low + step < list.length && (list[low + step] as number) < number) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, list.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function visitGaps(bytes: Uint8Array, count: number, visit: (number: number) => void): void {
  const list = new Uint8Array(bytes.length + 1);
  list.set(bytes, 1);
  for (const number of decodePostings(list, count)) visit(number);
}
