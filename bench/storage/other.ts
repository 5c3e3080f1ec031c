/** How somebody else keeps a block: what is inserted for its pieces. */
export interface Other {
  readonly name: string;
  readonly write: (block: readonly string[], insert: (update: Uint8Array | string) => void) => void;
}
