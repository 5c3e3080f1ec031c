/**
 * A V8 CPU profile as a tree of frames with times: each function once below its caller, however often it was called, waiting left
 * out. Paths are relative to the repository, so that what is written about a profile is the same on every machine.
 */

/** What `node --cpu-prof` writes, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface Frame {
  readonly name: string;
  /** File and line, or what V8 calls it when it is no code of anybody's. */
  readonly place: string;
  selfUs: number;
  totalUs: number;
  readonly children: Map<string, Frame>;
}

export interface SelfTime {
  readonly name: string;
  readonly place: string;
  readonly selfUs: number;
}

const WAITING = new Set(["(idle)"]);

export function treeOf(profile: CpuProfile, root: string): Frame {
  const selfUs = new Map<number, number>();
  for (const [i, id] of profile.samples.entries())
    selfUs.set(id, (selfUs.get(id) ?? 0) + Math.max(0, profile.timeDeltas[i] ?? 0));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const first = profile.nodes[0];
  const top = newFrame("all", "");
  if (!first) return top;
  // Not by recursion: stacks of a deep recursion are as deep here.
  const waiting: { readonly id: number; readonly into: Frame }[] = [{ id: first.id, into: top }];
  const order: { readonly frame: Frame; readonly above: Frame | undefined; readonly ownUs: number }[] = [
    { frame: top, above: undefined, ownUs: 0 },
  ];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const child of nodes.get(next.id)?.children ?? []) {
      const node = nodes.get(child);
      if (!node || WAITING.has(node.callFrame.functionName)) continue;
      const frame = childOf(next.into, node.callFrame, root);
      order.push({ frame, above: next.into, ownUs: selfUs.get(child) ?? 0 });
      waiting.push({ id: child, into: frame });
    }
  }
  for (const { frame, ownUs } of order) frame.selfUs += ownUs;
  addUp(top);
  return top;
}

/** Functions by the time that they spent themselves, wherever they were called from. */
export function selfTimes(tree: Frame): SelfTime[] {
  const found = new Map<string, { name: string; place: string; selfUs: number }>();
  const waiting = [tree];
  for (let frame = waiting.pop(); frame; frame = waiting.pop()) {
    const key = `${frame.name} ${frame.place}`;
    const known = found.get(key) ?? { name: frame.name, place: frame.place, selfUs: 0 };
    known.selfUs += frame.selfUs;
    found.set(key, known);
    waiting.push(...frame.children.values());
  }
  return [...found.values()].filter(({ selfUs }) => selfUs > 0).sort((a, b) => b.selfUs - a.selfUs);
}

function addUp(top: Frame): void {
  const waiting = [top];
  const order: Frame[] = [];
  for (let frame = waiting.pop(); frame; frame = waiting.pop()) {
    order.push(frame);
    waiting.push(...frame.children.values());
  }
  // Children come behind their parents, so backwards they are done first.
  for (const frame of order.toReversed()) {
    frame.totalUs = frame.selfUs;
    for (const child of frame.children.values()) frame.totalUs += child.totalUs;
  }
}

function childOf(parent: Frame, call: CpuProfile["nodes"][number]["callFrame"], root: string): Frame {
  const name = call.functionName || "(anonymous)";
  const place = placeOf(call.url, call.lineNumber, root);
  const key = `${name} ${place}`;
  const known = parent.children.get(key) ?? newFrame(name, place);
  parent.children.set(key, known);
  return known;
}

function newFrame(name: string, place: string): Frame {
  return { name, place, selfUs: 0, totalUs: 0, children: new Map() };
}

function placeOf(url: string, line: number, root: string): string {
  if (url === "") return "native";
  const path = url.replace(/^file:\/\//, "");
  return `${path.startsWith(root) ? path.slice(root.length) : path}:${line + 1}`;
}
