/**
 * Starts of Codex, one after the other until one has begun to work: a Codex that finds no database of its own, or an older one, makes it
 * when it starts, and a second one that starts meanwhile fails. From then on they start side by side.
 */

export class FirstStart {
  #isMade = false;
  #before: Promise<void> = Promise.resolve();

  /** Waits for earlier starts. The returned function is called when this one works, or has ended without; once. */
  async enter(): Promise<(works: boolean) => void> {
    if (this.#isMade) return () => undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#before;
    this.#before = before.then(() => promise);
    await before;
    if (this.#isMade) resolve();
    return (works) => {
      this.#isMade ||= works;
      resolve();
    };
  }
}
