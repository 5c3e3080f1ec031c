/**
 * Names as versions before SHA-256 derived them. They find what those versions have stored and print inputs of calls; they
 * name nothing new, because a text can be made for any of them.
 */

import { ID_ALPHABET } from "./env.ts";

export function legacyName(text: string, length: number): string {
  let name = "";
  for (let lane = 1; name.length < length; lane++) {
    let bits = (0x811c9dc5 ^ Math.imul(lane, 0x9e3779b1)) >>> 0;
    for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
    bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
    bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
    bits = (bits ^ (bits >>> 15)) >>> 0;
    for (let i = 0; i < 6 && name.length < length; i++) {
      name += ID_ALPHABET[bits & 31];
      bits >>>= 5;
    }
  }
  return name;
}
