/**
 * Every bound of the kernel but those of presentation/, in one place. A queue, buffer, depth, pattern or list that has no line
 * here has no bound, and that is a bug.
 */

import { latency } from "./latency.ts";

export const limits = {
  /** An append is flushed at a newline, at more than this many UTF-16 units … */
  appendFlushChars: latency.flushChars,
  /** … or when its oldest piece is this old. */
  appendFlushMs: latency.flushMs,
  /** Text that one block may hold, in UTF-16 units. */
  blockTextChars: 64 * 1024 * 1024,
  /** Text of one write. */
  writeTextChars: 32 * 1024 * 1024,
  /** Serialized metadata of one block. */
  metadataChars: 4 * 1024 * 1024,
  /** Nesting of any stored JSON value. */
  jsonDepth: 96,
  /** One call, in bytes of JSON: a tool without text, one with text, and one with text for the owner. */
  callBytes: 64 * 1024,
  textCallBytes: 8 * 1024 * 1024,
  ownerCallBytes: 64 * 1024 * 1024,
  /** JSON values in one call, and in one line of a stream: each costs far more than its bytes. */
  callValues: 100_000,
  lineValues: 400_000,
  /** … and in one line of an import, which may hold many events. */
  importValues: 4_000_000,
  /** For one agent or viewer: calls in flight, and queued calls. */
  callerCalls: 4,
  callerQueue: 64,
  /** … requests and messages per minute, and at once; blocks and text that it stores. All tokens of a name share these. */
  requestsPerMinute: 6_000,
  requestBurst: 500,
  blocksPerHour: 50_000,
  storedCharsPerHour: 512 * 1024 * 1024,
  /** Queued searches of agents and viewers; the owner's come before them. */
  guestSearches: 16,
  /** Queued exports of agents and viewers; how long the export thread may take for one piece. */
  queuedExports: 16,
  exportPieceMs: 30_000,
  /** Queued writes of one conversation before a caller gets `busy`. */
  queuedWrites: 10_000,
  /** Ops in one commit. */
  opsPerCommit: 2_000,
  /** While the store is unavailable, an agent's stream is buffered for this long; then it ends with the reason. */
  holdMs: 10 * 60_000,
  /** A caller waits at most this long for its append to become durable; the append stays accepted. */
  durableWaitMs: 10_000,
  /** How often a write is planned again because another node moved the conversation. */
  replans: 64,
  /** Blocks that one call of conversation.changes reads. */
  changeBlocks: 1_000,
  /** Turns whose costs are cached for cost.report; other costs are read again. */
  costTurns: 100_000,
  /** A deleted conversation can be restored for this long; then it is removed from the store. */
  deletedUndoMs: 30_000,
  /** Idempotency keys remembered per conversation. */
  keysPerConversation: 4_096,
  /** Undo horizon: undo steps of one block that can be reverted. */
  undoUnits: 1_500,
  /** A person's consecutive edits within this time are one undo step. */
  burstMs: 1_000,
  /** Promoted text is kept in CRDT pieces of at most this many UTF-16 units. */
  pieceChars: 64 * 1024,
  /** A promoted, finished block is compacted after this long without a write. */
  compactAfterMs: 10 * 60_000,
  /** … or as soon as it has this many ops. */
  compactAfterOps: 2_000,
  /** Loaded texts kept in memory, in UTF-16 units over all blocks, and as a count. */
  loadedChars: 16 * 1024 * 1024,
  loadedBlocks: 4_096,
  /** A loaded text that has grown by this much since its last use is dropped. */
  unreadChars: 64 * 1024,
  /** Conversations kept open in memory. */
  openConversations: 256,
  /** block.read */
  readLines: 100_000,
  readBytes: 1024 * 1024,
  /** … for agents and viewers: the owner waits while an answer is built in one piece. */
  guestReadBytes: 64 * 1024,
  /** block.edit */
  editOperations: 1_000,
  /** Lines and units of text in a problem. */
  problemLines: 100,
  problemChars: 16 * 1024,
  /** block.apply_patch */
  patchChars: 4 * 1024 * 1024,
  patchSearchLines: 100_000,
  /** Lines examined to place all hunks of one patch. */
  patchLooks: 4_000_000,
  /** Search. */
  patternChars: 1_024,
  searchDeadlineMs: 250,
  searchMatches: 1_000,
  searchBlocks: 200,
  contextLines: 50,
  /** Instructions of a compiled pattern: limits nested repetitions. */
  patternInstructions: 4_000,
  /** A longer line is cut in a match's content. */
  searchLineChars: 1_000,
  /** Content of one answer's matches, all together. */
  searchContentChars: 4 * 1024 * 1024,
  /** Queued searches of the search worker. */
  queuedSearches: 64,
  /** Trigram filters that the search worker keeps in memory. */
  filterCacheBytes: 256 * 1024 * 1024,
  /** Recently read texts that the search worker caches. */
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
  /** A watcher of conversations gets each record at most this often. */
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
  /** A client retries a temporarily refused request after this long, then after twice as long, up to … */
  retryFirstMs: 250,
  retryMostMs: 5_000,
  /** Output of a running tool that is sent whole with each update; beyond this, only additions are sent. */
  liveResultChars: 64 * 1024,
  /** Open calls older than the window that a subscriber still gets. */
  openCalls: 100,
  /** Calls of ended messages whose late results a reader of `llm_*` events still gets. */
  heardOfCalls: 1_000,
  cursors: 256,
  cursorTtlMs: 60_000,
  /** Nodes that share a store: the minimum time between hints; how many conversations may wait for a hint. */
  hintMs: 20,
  hintedConversations: 10_000,
  /** For this long after another node's commit, nodes take turns to write to the conversation. */
  rivalMs: 1_000,
  /** During a turn, keys are looked up again if the writes that arrived meanwhile are at least this share (one in so many). */
  moreKeysShare: 2,
  /** How often other nodes' commits are polled without a hint; how many of the newest conversations are polled. */
  lookMs: 1_000,
  lookedAtConversations: 100,
  /** Open conversations polled at once if the store needs one query for each. */
  lookedAtSingly: 64,
  /** A node without a heartbeat for this long is dead. */
  leaseMs: 15_000,
  /** What an agent holds itself ends after this long without a sign of the agent. */
  agentLeaseMs: 10 * 60_000,
  /** A heartbeat is due every third of a lease. One later than this means that the store was unavailable, or this node stalled. */
  beatGapMs: 8_000,
  /** How long the node that runs a turn has to execute another node's command. */
  commandMs: 10_000,
  commandsPerTurn: 100,
  /** Text of one answer of conversation.context. */
  contextChars: 32 * 1024 * 1024,
  /** Included blocks in one conversation's context. */
  includedBlocks: 500,
  /** Earlier sessions of one provider that a conversation keeps: the newest. */
  pastSessions: 200,
  /** Text that an agent with its own sessions is told of a conversation that it does not know: in total, … */
  toldChars: 120_000,
  /** How often a running turn's usage is written. */
  turnUsageMs: 30_000,
  /** … of one text or file, of one call's input, of one result. */
  toldTextChars: 16_000,
  toldInputChars: 500,
  toldResultChars: 1_500,
  /** Pictures sent with it: the newest. */
  toldPictures: 4,
  /** Blocks that a fork into a new conversation copies. */
  forkedBlocks: 20_000,
  /** … for an agent, with their text: what is copied in one piece keeps the owner waiting for as long. */
  guestForkedBlocks: 2_000,
  guestForkedChars: 8 * 1024 * 1024,
  /** Names. */
  agentChars: 64,
  titleChars: 300,
  pathChars: 4_096,
  /** Metadata up to this size is kept when something must be left out. */
  smallMetadataChars: 16 * 1024,
  /** Events of a stream in one write, and queued for it. */
  eventsPerWrite: 400,
  pendingEvents: 4_000,
  /** Delay before a stream's failed write is retried. */
  ingestRetryMs: 500,
  /** Unanswered requests of an interrupted turn that its conversation lists. */
  cutAsks: 100,
  /** The highest stated cost of a turn that counts. */
  turnUsd: 1e9,
  /** … and the highest number of tokens. */
  turnTokens: 1e12,
  /** Logs read at once. */
  missedLogs: 8,
  /** How often a delay is doubled at most. */
  retryDoublings: 16,
  /** For a pattern that cannot match across lines, the engine gets the text in pieces of whole lines, of about this many units. */
  patternPieceChars: 8_192,
  /** A larger set of strings is dropped: it would narrow little and cost much. */
  patternStrings: 16,
  /** … and longer strings are not looked up as a whole. */
  patternStringChars: 48,
  /** Work that is faster than setting up a guard for it, in characters x weight: some 20 ms at worst. */
  lightSearchWork: 200_000,
  /** Units checked of a required string: that much is enough to tell whether it occurs. */
  filteredStringChars: 48,
  /** Old undo steps are dropped in batches, so that dropping costs little per op. */
  undoSlackUnits: 64,
  /** Of a block in a list. */
  summaryChars: 80,
  /** A longer text is described, not loaded. */
  summarizedChars: 256 * 1024,
  /** Blocks that an export reads at once. */
  exportedBlocks: 200,
  /** Records that are read at once: some milliseconds. */
  costConversations: 500,
  /** Calls in flight on one connection. */
  connectionCalls: 256,
  /** The rest of a message around a call. */
  envelopeBytes: 1024,
  /** With more changed blocks than this, a reset is cheaper than catching up. */
  catchUpBlocks: 500,
  /** A longer text is not read for a few of its lines; of all texts of a window or page at most … */
  briefChars: 64 * 1024,
  /** … this many. */
  briefTotalChars: 4 * 1024 * 1024,
  /** Delay before a failed append is retried. */
  appendRetryMs: 1_000,
  /** Beyond this many, completely written streams are dropped. */
  idleStreams: 1_024,
  /** Cached block records, per conversation. */
  blockRecords: 20_000,
  /** Conversations whose costs are read at once. */
  costReads: 16,
  /** An entry without a marked record is left alone for this long: its writer is about to mark the record. */
  staleDeletionMs: 60_000,
  /** Blocks of a long conversation that are read at once: some milliseconds. */
  readBlocks: 500,
  /** Blocks whose open undo step is kept. */
  openUnitBlocks: 20_000,
  /** How often, and at which interval, the store is asked for the outcome of a commit that it did not answer. */
  outcomeTries: 20,
  outcomeMs: 250,
  /** How often it is asked afterwards, for callers that wait for the outcome. */
  outcomeWaitMs: 1_000,
  /** A title is a sentence, cut here, … */
  derivedTitleChars: 80,
  /** … and searched for in this much of a text. */
  derivedTitleTextChars: 4_000,
} as const;
