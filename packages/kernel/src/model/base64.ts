/** Base64 without Node or the DOM: for CRDT updates in JSON frames, and for pictures in exports. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...ALPHABET].map((char, value) => [char.charCodeAt(0), value]));

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const bits = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
    text +=
      (left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : "=") + (left > 2 ? ALPHABET.charAt(bits & 63) : "=");
  }
  return text;
}

export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0, at = 0; i < text.length; i += 4) {
    let bits = 0;
    for (let j = 0; j < 4; j++) {
      const value = VALUES.get(text.charCodeAt(i + j));
      const isPadding = value === undefined && i + j >= text.length - padding;
      if (value === undefined && !isPadding) return undefined;
      bits = (bits << 6) | (value ?? 0);
    }
    for (let shift = 16; shift >= 0 && at < bytes.length; shift -= 8) bytes[at++] = (bits >> shift) & 255;
  }
  return bytes;
}
