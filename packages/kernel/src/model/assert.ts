/**
 * Assertions are for bugs: a broken invariant stops the operation at once. Never catch one to continue.
 */

export class AssertionError extends Error {
  override name = "AssertionError";
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Closes a switch over a union: the compiler complains when a case is missing. */
export function unreachable(value: never, what: string): never {
  throw new AssertionError(`${what}: ${JSON.stringify(value)}`);
}
