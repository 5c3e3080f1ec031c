/**
 * Several agents and whoever else in one file at one time, and the verdict: whether anything of anybody was lost, whether
 * undo took back only one's own, whether the disk has what the block has. The same for the demo and for its test; who sits
 * where, how fast they act and what is told of it comes from outside.
 */

import { isProblem, type Problem } from "@blockyard/kernel";
import { type Deed, ScriptedAgent, type Seat } from "./scripted-agent.ts";
import { DEMO_PATH, demoText } from "./story.ts";

export interface ScenarioOptions {
  /** The owner's way to the server: opens the file and looks at the end. */
  readonly owner: Pick<Seat, "call">;
  readonly seats: readonly Seat[];
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  /** Waits before an agent's next deed; false ends it. */
  readonly next: (agent: string) => Promise<boolean>;
  readonly onDeed: (deed: Deed) => void;
  /** Told when the file is open, before anybody acts. */
  readonly opened?: (file: OpenedFile) => Promise<void> | void;
  /** Lines that somebody else has written meanwhile and that must be there. */
  readonly others?: () => readonly string[];
  /** A person who may edit anything: what that person changes in an agent's line is no loss. */
  readonly guest?: string;
}

interface OpenedFile {
  readonly block_id: string;
  readonly conversation: string;
  readonly path: string;
}

export interface Verdict {
  readonly ok: boolean;
  readonly deeds: Readonly<Record<Deed["did"], number>>;
  /** Lines of the agents that are in the file at the end. */
  readonly lines: number;
  /** What is wrong, in sentences. */
  readonly wrong: readonly string[];
  readonly version: number;
}

/** The file is somebody's: nobody scribbles into it. */
export class FileThere extends Error {
  override name = "FileThere";
}

export async function runScenario(options: ScenarioOptions): Promise<Verdict> {
  const { owner, seats, random } = options;
  const open = { path: DEMO_PATH, create: true, content: demoText() };
  const file = said(await owner.call("file.open", open));
  if (!file.created) throw new FileThere(`${DEMO_PATH} already exists`);
  await options.opened?.(file);
  const agents = seats.map((seat) => new ScriptedAgent(seat, file.block_id, random));
  await Promise.all(agents.map((agent) => work(agent, options)));
  const court: Court = { owner, file, agents, others: options.others?.() ?? [], guest: options.guest };
  const wrong = [...(await judge(court)), ...(await judgeUndo(court))];
  const { version } = said(
    await owner.call("block.read", { block_id: file.block_id, range: { start: 0, end: 1 } }),
  );
  return {
    ok: wrong.length === 0,
    deeds: sumOf(agents),
    lines: agents.reduce((sum, agent) => sum + agent.lines.length, 0),
    wrong,
    version,
  };
}

async function work(agent: ScriptedAgent, { next, onDeed }: ScenarioOptions): Promise<void> {
  while (await next(agent.seat.agent)) onDeed(await agent.act());
}

/** What a verdict is about. */
interface Court {
  readonly owner: Pick<Seat, "call">;
  readonly file: OpenedFile;
  readonly agents: readonly ScriptedAgent[];
  readonly others: readonly string[];
  readonly guest: string | undefined;
}

/** Every line that must be there is there once, none that was taken back is, and the disk has the same. */
async function judge(court: Court): Promise<string[]> {
  const { content, disk, isInConflict } = await atRest(court.owner, court.file);
  const wrong: string[] = [];
  if (isInConflict) wrong.push("the file is in conflict with the disk");
  if (disk !== content) wrong.push("the file on disk differs from the block");
  const counts = new Map<string, number>();
  for (const line of content.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  const excused = await excuse(court);
  for (const { seat, lines, takenBack } of court.agents) {
    for (const line of lines) {
      const count = counts.get(line) ?? 0;
      if (count === 1 || (count === 0 && excused(seat.agent, line))) continue;
      wrong.push(`a line by ${seat.agent} appears ${count} times: ${line.trim()}`);
    }
    for (const line of takenBack)
      if (counts.has(line)) wrong.push(`a line that ${seat.agent} undid is still there: ${line.trim()}`);
  }
  for (const line of court.others) if (!content.includes(line)) wrong.push(`missing: ${line.trim()}`);
  return wrong;
}

/**
 * Whether a line that does not stand as it was is the guest's doing: something was typed into it, so that its agent's own
 * letters are all there, or the guest has deleted something.
 */
async function excuse({ owner, file, guest }: Court): Promise<(agent: string, line: string) => boolean> {
  if (guest === undefined) return () => false;
  const asked = { block_id: file.block_id, authors: true, limit: 1_000 };
  const history = said(await owner.call("block.history", asked));
  const { content } = said(await owner.call("block.read", { block_id: file.block_id, line_numbers: false }));
  const hasDeleted = history.units.some(({ agent, deleted }) => agent === guest && deleted > 0);
  return (agent, line) => {
    const own = (history.authors ?? []).filter((part) => part.agent === agent);
    return (
      hasDeleted ||
      own
        .map(({ start, end }) => content.slice(start, end))
        .join("")
        .includes(line)
    );
  };
}

const REST_TRIES = 20;

/** Both sides as they are when nobody types in between: a person may. */
async function atRest(
  owner: Pick<Seat, "call">,
  { block_id }: OpenedFile,
): Promise<{ content: string; disk: string | null; isInConflict: boolean }> {
  for (let tries = 1; ; tries++) {
    said(await owner.call("file.flush", { block_id }));
    const status = said(await owner.call("file.status", { block_id, disk_content: true }));
    const read = said(await owner.call("block.read", { block_id, line_numbers: false }));
    const [now] = status.files;
    const isQuiet = now?.version === read.version && !now.dirty;
    if (isQuiet || tries === REST_TRIES || now?.conflict)
      return {
        content: read.content,
        disk: status.disk?.content ?? null,
        isInConflict: Boolean(now?.conflict),
      };
  }
}

/** Units that an agent takes back for the verdict: what a block can undo is bounded. */
const UNDO_UNITS = 100;

/** Each agent in turn takes back its own last edits: all of that goes, and nothing else. Then it puts them back. */
async function judgeUndo(court: Court): Promise<string[]> {
  const wrong: string[] = [];
  for (const agent of court.agents) {
    const before = agent.lines.length;
    const units = await agent.flip("undo", UNDO_UNITS);
    const undone = await judge(court);
    wrong.push(...undone.map((each) => `after ${agent.seat.agent} undid ${units} edits: ${each}`));
    await agent.flip("redo", units);
    const { length } = agent.lines;
    if (length !== before) wrong.push(`${agent.seat.agent} restored ${length} of ${before} lines`);
  }
  const redone = await judge(court);
  return [...wrong, ...redone.map((each) => `after redoing everything: ${each}`)];
}

function sumOf(agents: readonly ScriptedAgent[]): Verdict["deeds"] {
  const sum = { inserted: 0, patched: 0, reworded: 0, undid: 0, redid: 0, retried: 0 };
  for (const { counts } of agents)
    for (const did of Object.keys(sum) as Deed["did"][]) sum[did] += counts[did];
  return sum;
}

function said<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}
