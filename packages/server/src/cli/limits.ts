/** Bounds of the command: what it waits for, what it reads and prints at once. */

// ACP record
/** How often the copy of an agent's stream is polled, and how much of it is read at once. */
export const RECORD_LOOK_MS = 100;
export const RECORD_READ_BYTES = 256 * 1024;

// ACP tee
/** The queue for a slow disk; beyond it the copy is given up. */
export const TEE_WAITING_BYTES = 64 * 1024 * 1024;
/** How long the end of the copy may hold up the end of the agent. */
export const TEE_CLOSE_MS = 500;

// Attach turn
/** Blocks of a running turn that are shown, and searched for asks. */
export const ATTACHED_BLOCKS = 300;

// Audit
/** Entries requested at once. */
export const AUDIT_PAGE_ENTRIES = 1_000;
export const AUDIT_DETAIL_CHARS = 200;

// Block text
/** How much of a thought is searched for its first sentence. */
export const THINKING_CHARS = 1_000;
/** The shown length of a warning, and of a turn's summary. */
export const NOTICE_CHARS = 2_000;

// Client watch
/** How often the parent process is checked. */
export const PARENT_LOOK_MS = 1_000;

// Command client
/** How long a command waits for another one that has the store open, and how often it checks. */
export const LOCK_WAIT_MS = 10_000;
export const LOCK_STEP_MS = 100;
/** How long a server may take to respond. */
export const HEALTH_MS = 3_000;

// Doctor checks
/** How long an agent may take to say its version. */
export const AGENT_VERSION_MS = 5_000;
export const DOCTOR_HEALTH_MS = 10_000;

// Flow
/** The send queue at which the pipe is paused. */
export const PIPE_WAITING_BYTES = 4 * 1024 * 1024;

// Follow
/** How often a followed file is polled. */
export const FOLLOW_MS = 1_000;
/** Calls that are kept, to show their outcome. */
export const FOLLOWED_CALLS = 200;
/** How long a call runs before its line is shown without its outcome. */
export const LONG_CALL_MS = 1_000;

// Grant
export const GRANTED_NAME_CHARS = 200;

// Help
/** With less space than this beside a name or a command, its description goes below it. */
export const BESIDE_CHARS = 30;

// Import sessions
/** How often watched logs are polled. */
export const IMPORT_WATCH_MS = 1_000;
/** How much of a log is read to detect its format. */
export const LOG_HEAD_BYTES = 256 * 1024;

// Log import
/** Conversations requested at once. */
export const IMPORTED_PAGE_ROWS = 500;

// List of conversations
/** The most that `--limit` takes. */
export const LISTED_ROWS = 2_000;

// MCP stdio
/** Delay before a lost stream of changes is requested again. */
export const CHANGES_RETRY_MS = 2_000;
/** One line of that stream. */
export const CHANGE_LINE_CHARS = 4 * 1024 * 1024;
/** Resources that were streamed and are remembered. */
export const STREAMED_URIS = 1_000;
/** Requests made before the input ended are still answered, for this long. */
export const LAST_ANSWERS_MS = 5_000;
/** How long an answer may take to leave the process. */
export const ANSWERED_MS = 10;

// Named id
/** Conversations requested at once. */
export const NAMED_PAGE_ROWS = 500;
/** Conversations that a message names, and the length of their titles. */
export const AMBIGUOUS_ROWS = 10;
export const AMBIGUOUS_TITLE_CHARS = 60;
/** The printed length of a new title. */
export const RENAMED_TITLE_CHARS = 200;

// Rules
export const RULE_WORDS_CHARS = 200;

// Run turn
/** How often to check whether an agent has read a message. */
export const READ_LOOK_MS = 200;

// Search
/** How often to ask whether the index is complete. */
export const INDEXING_MS = 250;

// Serve
/** How long a server may take to stop, before the process ends anyway. */
export const STOP_MS = 5_000;
/** For text on its way to the terminal. */
export const DRAIN_MS = 100;
/** How long a replay may take to end, before the store is closed. */
export const REPLAY_END_MS = 1_000;

// Session
export const SESSION_NAME_CHARS = 80;

// Terminal ask
/** Lines of an ask's content. */
export const ASK_NAME_CHARS = 200;
/** How long earlier input is discarded before a question. */
export const TYPED_BEFORE_MS = 50;
/** How often to check whether somebody else has answered. */
export const ANSWERED_ELSEWHERE_MS = 500;
