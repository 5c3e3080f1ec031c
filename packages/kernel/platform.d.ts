// What the kernel and the providers may expect of every JavaScript runtime beyond the language itself.
// Node and browsers both have it; neither's own types are visible there. Keep it this short.

declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

declare class URL {
  constructor(href: string);
  readonly href: string;
  readonly host: string;
  readonly protocol: string;
}

declare class TextDecoder {
  constructor(label?: "utf-8", options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}
