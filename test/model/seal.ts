/**
 * Signatures and seals of the model server's reasoning. They follow from what they sign, so that a request which brings
 * back something else than was said can be refused without remembering anything.
 */
import { createHash } from "node:crypto";

export function signatureOf(thinking: string): string {
  return `sig-${createHash("sha256").update(thinking).digest("base64")}`;
}

export function sealOf(itemId: string): string {
  return Buffer.from(`sealed for ${itemId}`).toString("base64");
}

export function redactedOf(words: string): string {
  return Buffer.from(`redacted ${words}`).toString("base64");
}

export function isRedacted(data: string): boolean {
  return Buffer.from(data, "base64").toString().startsWith("redacted ");
}
