/** What walks a text of others, as a function from text to nothing. */
export interface Walker {
  readonly name: string;
  walk(text: string): unknown;
}
