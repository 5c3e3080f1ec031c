/** Bounds of the loop's requests. */
export const bounds = {
  /** Of an answer that is an error, this much is read. */
  errorBytes: 64 * 1024,
  /** Of an error that is no JSON, such as a proxy's page, this much is shown. */
  errorChars: 500,
} as const;
