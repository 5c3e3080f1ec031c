/**
 * Every bound of the kernel but those of presentation/, in one place. A queue, buffer, depth, pattern or list that has no line
 * here has no bound, and that is a bug.
 */

import { latency } from "./latency.ts";

export const limits = {
  /** An append is flushed when it holds a newline, more than this many UTF-16 units … */
  appendFlushChars: latency.flushChars,
  /** … or when the first piece that waits is this old. */
  appendFlushMs: latency.flushMs,
  /** Text that one block may hold, in UTF-16 units. */
  blockTextChars: 64 * 1024 * 1024,
  /** Text of one write. */
  writeTextChars: 32 * 1024 * 1024,
  /** Serialized metadata of one block. */
  metadataChars: 4 * 1024 * 1024,
  /** Nesting of any JSON value that is kept. */
  jsonDepth: 96,
  /** One call, as bytes of JSON: of a tool that carries no text, of one that does, and of one that does for the owner. */
  callBytes: 64 * 1024,
  textCallBytes: 8 * 1024 * 1024,
  ownerCallBytes: 64 * 1024 * 1024,
  /** JSON values in one call, and in one line of a stream: each costs far more than its bytes. */
  callValues: 100_000,
  lineValues: 400_000,
  /** … and in one line of an import, which may hold many events. */
  importValues: 4_000_000,
  /** Of one agent or viewer: calls under way, and calls that wait for their turn. */
  callerCalls: 4,
  callerQueue: 64,
  /** … requests and messages in the long run, and at once; blocks and text that it stores. All tokens of a name share. */
  requestsPerMinute: 6_000,
  requestBurst: 500,
  blocksPerHour: 50_000,
  storedCharsPerHour: 512 * 1024 * 1024,
  /** Searches of agents and viewers that may wait; those of the owner come before them. */
  guestSearches: 16,
  /** Exports of agents and viewers that may wait for the thread that makes them; how long that may take over one piece. */
  queuedExports: 16,
  exportPieceMs: 30_000,
  /** Writes that may wait in one conversation before a caller is told `busy`. */
  queuedWrites: 10_000,
  /** Ops in one commit. */
  opsPerCommit: 2_000,
  /** What an agent says while the store is away is held for this long, then its stream ends with the reason. */
  holdMs: 10 * 60_000,
  /** A caller that waits for its append to be durable waits for this long; the append stays accepted. */
  durableWaitMs: 10_000,
  /** How often a write is planned again because another node moved the conversation. */
  replans: 64,
  /** Blocks that one answer of conversation.changes looks at. */
  changeBlocks: 1_000,
  /** Turns whose costs are kept in memory for cost.report; the costs of others are read again. */
  costTurns: 100_000,
  /** A deleted conversation can be restored for this long; then it is removed from the store. */
  deletedUndoMs: 30_000,
  /** Idempotency keys remembered per conversation. */
  keysPerConversation: 4_096,
  /** Undo horizon: units of one block that can be undone. */
  undoUnits: 1_500,
  /** A person's edits that follow each other within this time are one unit. */
  burstMs: 1_000,
  /** Promoted text is kept in CRDT pieces of at most this many UTF-16 units. */
  pieceChars: 64 * 1024,
  /** A promoted, finished block is compacted after this long without a write. */
  compactAfterMs: 10 * 60_000,
  /** … or as soon as it holds this many ops. */
  compactAfterOps: 2_000,
  /** Loaded texts kept in memory, in UTF-16 units over all blocks, and as a count. */
  loadedChars: 16 * 1024 * 1024,
  loadedBlocks: 4_096,
  /** A loaded text that has grown by this much since somebody wanted it is let go. */
  unreadChars: 64 * 1024,
  /** Conversations kept open in memory. */
  openConversations: 256,
  /** block.read */
  readLines: 100_000,
  readBytes: 1024 * 1024,
  /** … for agents and viewers: what is made in one piece keeps the owner waiting for as long. */
  guestReadBytes: 64 * 1024,
  /** block.edit */
  editOperations: 1_000,
  /** Lines and units of text that a problem shows. */
  problemLines: 100,
  problemChars: 16 * 1024,
  /** block.apply_patch */
  patchChars: 4 * 1024 * 1024,
  patchSearchLines: 100_000,
  /** Lines that are looked at to find the places of all hunks of one patch. */
  patchLooks: 4_000_000,
  /** Search. */
  patternChars: 1_024,
  searchDeadlineMs: 250,
  searchMatches: 1_000,
  searchBlocks: 200,
  contextLines: 50,
  /** Instructions of a compiled pattern: bounds what nested repetitions can come to. */
  patternInstructions: 4_000,
  /** A longer line is shown cut in a match's content. */
  searchLineChars: 1_000,
  /** Content of one answer's matches, all together. */
  searchContentChars: 4 * 1024 * 1024,
  /** Searches that may wait for the search worker. */
  queuedSearches: 64,
  /** Trigram filters that the search worker keeps in memory. */
  filterCacheBytes: 256 * 1024 * 1024,
  /** Texts that the search worker has read lately and keeps. */
  searchTextChars: 32 * 1024 * 1024,
  /** block.list, block.history, block.sync */
  listRows: 2_000,
  listDepth: 64,
  historyRows: 1_000,
  syncBlocks: 1_000,
  syncWaitMs: 30_000,
  /** Wire. */
  frameChars: 1024 * 1024,
  batchMs: latency.throttleMs,
  /** Who watches conversations is told of each at most this often. */
  watchMs: 250,
  /** Blocks that a subscriber gets at once; and at most, with one page or one request for texts. */
  windowBlocks: 100,
  pageBlocks: 200,
  windowTextChars: 512 * 1024,
  queueChars: 1024 * 1024,
  cutChars: 4 * 1024 * 1024,
  subscriptions: 64,
  /** Blocks that one connection has open to edit. */
  syncedBlocks: 256,
  /** What a server could not do is asked for again after this long, then after twice as long, up to … */
  retryFirstMs: 250,
  retryMostMs: 5_000,
  /** Output of a running tool that comes whole with each update; of more only what was added comes. */
  liveResultChars: 64 * 1024,
  /** Calls that have not ended and that a subscriber is given although they are older than its window. */
  openCalls: 100,
  /** Calls of messages that have stopped whose results a reader of `llm_*` events still hears of. */
  heardOfCalls: 1_000,
  cursors: 256,
  cursorTtlMs: 60_000,
  /** Nodes that share a store: how often at most one hints at its commits; how many conversations a hint waits for. */
  hintMs: 20,
  hintedConversations: 10_000,
  /** So long after another node's commit a conversation is one that several nodes write to: commits to it are planned in turn. */
  rivalMs: 1_000,
  /** Keys are looked for again in a turn where what came meanwhile is at least one such share of what was looked for. */
  moreKeysShare: 2,
  /** How often what others have committed is looked for without a hint; how many of the newest conversations are looked at. */
  lookMs: 1_000,
  lookedAtConversations: 100,
  /** Of the open conversations so many are looked at where the store answers one question for each. */
  lookedAtSingly: 64,
  /** A node that has not been heard of for this long is dead. */
  leaseMs: 15_000,
  /** What an agent holds open itself is ended when nothing was heard of the agent for this long. */
  agentLeaseMs: 10 * 60_000,
  /** A beat is due every third of a lease. One that comes later than this says that the store, or this node, was away. */
  beatGapMs: 8_000,
  /** How long a node that runs a turn has to carry out what was asked of it by way of another one. */
  commandMs: 10_000,
  commandsPerTurn: 100,
  /** Text of one answer of conversation.context. */
  contextChars: 32 * 1024 * 1024,
  /** Blocks of elsewhere in one conversation's context. */
  includedBlocks: 500,
  /** Earlier sessions of one provider that a conversation remembers: the newest. */
  pastSessions: 200,
  /** What an agent with sessions of its own is told of a conversation that it does not know: in all, … */
  toldChars: 120_000,
  /** How often a running turn's usage is written. */
  turnUsageMs: 30_000,
  /** … of one text or file, of one call's input, of one result. */
  toldTextChars: 16_000,
  toldInputChars: 500,
  toldResultChars: 1_500,
  /** Pictures that come along with it: the newest. */
  toldPictures: 4,
  /** Blocks that a fork into a new conversation copies. */
  forkedBlocks: 20_000,
  /** Names. */
  agentChars: 64,
  titleChars: 300,
  pathChars: 4_096,
  /** Metadata of this size is kept where something has to go. */
  smallMetadataChars: 16 * 1024,
  /** Events of a stream that one write takes, and that may wait for it. */
  eventsPerWrite: 400,
  pendingEvents: 4_000,
  /** How long after a failed write of a stream the next is tried. */
  ingestRetryMs: 500,
  /** Requests of a turn that was cut off that its conversation names. */
  cutAsks: 100,
  /** What a turn may be said to have cost. */
  turnUsd: 1e9,
  /** … and to have read or written, in tokens. */
  turnTokens: 1e12,
  /** How many logs are asked for at once. */
  missedLogs: 8,
  /** A pause is doubled at most so often. */
  retryDoublings: 16,
  /** Text of a line-bound pattern is given to the engine in pieces of whole lines, of about this many units. */
  patternPieceChars: 8_192,
  /** Beyond these a set of strings is given up: it would demand little and cost much. */
  patternStrings: 16,
  /** … and longer ones are not looked for as a whole. */
  patternStringChars: 48,
  /** Work that is done sooner than a guard is set up for it, in characters x weight: some 20 ms at worst. */
  lightSearchWork: 200_000,
  /** Units looked at of a demanded string: a longer one has shown by then whether it is there. */
  filteredStringChars: 48,
  /** Old units are dropped in batches, so that dropping costs little per op. */
  undoSlackUnits: 64,
  /** Of a block in a list. */
  summaryChars: 80,
  /** A longer text is described, not loaded. */
  summarizedChars: 256 * 1024,
  /** Blocks that an export reads at once. */
  exportedBlocks: 200,
  /** Records that are read at once: some milliseconds. */
  costConversations: 500,
  /** Calls under way on one connection. */
  connectionCalls: 256,
  /** What is around a call. */
  envelopeBytes: 1024,
  /** More changed blocks than this, and starting anew is cheaper than catching up. */
  catchUpBlocks: 500,
  /** A longer text is not read to give a few lines of it, and of all texts of a window or page not more than … */
  briefChars: 64 * 1024,
  /** … this many. */
  briefTotalChars: 4 * 1024 * 1024,
  /** How long after a failed append the next is tried. */
  appendRetryMs: 1_000,
  /** Beyond this many, streams of which all is written are let go of. */
  idleStreams: 1_024,
  /** Records of blocks that are kept in memory, per conversation. */
  blockRecords: 20_000,
  /** Conversations whose costs are read at once. */
  costReads: 16,
  /** An entry without a marked record is left alone for this long: whoever wrote it is about to mark the record. */
  staleDeletionMs: 60_000,
  /** Blocks of a long conversation that are read at once: some milliseconds. */
  readBlocks: 500,
  /** Blocks whose open unit is remembered. */
  openUnitBlocks: 20_000,
  /** How often, and how long apart, the store is asked what became of a commit that it did not answer. */
  outcomeTries: 20,
  outcomeMs: 250,
  /** How often it is asked afterwards, for those who wait for the outcome. */
  outcomeWaitMs: 1_000,
  /** A title is made of a sentence, which is cut here, … */
  derivedTitleChars: 80,
  /** … and which is looked for in so much of a text. */
  derivedTitleTextChars: 4_000,
} as const;
