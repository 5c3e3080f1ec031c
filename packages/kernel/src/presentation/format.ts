/** Numbers as people read them, the same in the page, in exports and in the command: costs, tokens, durations, ages. Pure. */

export function formatCost(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return usd < 100 ? `$${usd.toFixed(2)}` : `$${Math.round(usd).toLocaleString("en-US")}`;
}

/**
 * The cost, shown beside a turn or a conversation; empty if it is unknown or zero. `isLeast`: the cost was higher than
 * this, by an unknown amount.
 */
export function spentWords(usd: number | null | undefined, isLeast = false): string {
  if (usd === null || usd === undefined || usd === 0) return "";
  return isLeast ? `${formatCost(usd)}+` : formatCost(usd);
}

/** The same for a turn; also that it is unknown, if the agent used tokens and states no cost. */
export function turnSpentWords(turn: {
  readonly costUsd?: number | undefined;
  readonly uncounted?: true | undefined;
}): string {
  const spent = spentWords(turn.costUsd, turn.uncounted);
  return spent === "" && turn.uncounted && turn.costUsd === undefined ? "cost unknown" : spent;
}

/** Tokens written. For an answer that was cut, nobody has counted them. */
export function outputWords(output: string, uncounted: true | undefined): string {
  if (!uncounted) return `${output} out`;
  return output === "0" ? "output not counted" : `${output}+ out`;
}

export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 10_000) return `${(count / 1_000).toFixed(1).replace(/\.0$/, "")}k`;
  if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min${rest === 0 ? "" : ` ${rest} s`}`;
}

export function formatAge(ms: number): string {
  const minutes = Math.max(0, ms) / 60_000;
  if (minutes < 1) return "now";
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 30 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return minutes < 365 * 24 * 60
    ? `${Math.floor(minutes / (30 * 24 * 60))} mo`
    : `${Math.floor(minutes / (365 * 24 * 60))} y`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}
