/**
 * Every wait between a provider's byte and a pixel, in the order in which a streamed token meets them, and their sum. Work
 * (parsing, committing, encoding, drawing) comes on top; the benches `append`, `fanout` and `page` measure it.
 *
 * | step | where | wait |
 * |---|---|---|
 * | flush | write/append.ts | none at a newline or after `flushChars`; otherwise at most `flushMs` |
 * | scheduling | write/scheduler.ts | none: the next run of the event loop |
 * | throttle | wire/server/throttle.ts | as long as the last rounds took, at most `throttleMs` |
 * | draw | the page's session | the next frame, but not sooner than `drawMs` after the last one |
 * | colour | the page's highlighter | a growing fence, once per `colourMs`; its text appears earlier |
 */

export const latency = {
  flushChars: 50,
  flushMs: 100,
  throttleMs: 16,
  /** One frame of a screen that draws sixty times a second. */
  frameMs: 16,
  drawMs: 24,
  colourMs: 200,
} as const;

/** The longest that text waits before it is visible; a full line, or `flushChars` characters, does not wait for the flush. */
export const seenWithinMs = latency.flushMs + latency.throttleMs + latency.drawMs + latency.frameMs;
export const lineSeenWithinMs = seenWithinMs - latency.flushMs;
