/** How another system stores a block: the rows for its pieces. */
export interface Other {
  readonly name: string;
  readonly write: (block: readonly string[], insert: (update: Uint8Array | string) => void) => void;
}
