/** Bounds of the composer. */

// Attachments
/** The server's limits for one message. */
export const ATTACHED_FILES = 20;
export const ATTACHED_FILE_CHARS = 256 * 1024;
export const ATTACHED_CHARS = 1024 * 1024;

// Choices
/** Folders and conversations whose choices are kept. */
export const CHOICE_PLACES = 300;

// Completion
/** More is no name of anything. */
export const QUERY_CHARS = 200;

// Context chips
export const CHIP_CHARS = 60;

// Drafts
export const DRAFT_SAVE_MS = 300;
/** With more conversations than this the oldest drafts are dropped, and longer ones are not kept over a reload. */
export const DRAFT_PLACES = 50;
export const DRAFT_CHARS = 200_000;

// Field
/** More is higher than the style allows anyway, and measuring it takes seconds. */
export const MEASURED_CHARS = 20_000;

// History
export const HISTORY_PROMPTS = 100;
export const HISTORY_PROMPT_CHARS = 10_000;

// Queue
/** For a long conversation only this many blocks are checked on every change. */
export const QUEUE_BLOCKS = 300;
/** The maximum number of queued messages; other open blocks are not requested. */
export const QUEUED_MESSAGES = 50;
export const QUEUED_CHARS = 300;
/** A server that answers takes less. */
export const QUEUE_ANSWER_MS = 400;

// Shrink
/** A larger picture is scaled down. */
export const PICTURE_BYTES = 3_000_000;

// Start turn
export const NEW_TITLE_CHARS = 120;

// Stop key
/** Two presses within this time stop a turn. */
export const STOP_TWICE_MS = 1_500;

// Suggestions
export const SUGGESTED_PATHS = 8;
export const SUGGESTED_CONVERSATIONS = 3;
export const LISTED_FILES = 2_000;
export const LIST_FRESH_MS = 15_000;

// Tasks
/** How often at most tasks are queried. */
export const TASKS_PAUSE_MS = 1_000;
/** A task may begin or end without any writes. */
export const TASKS_QUIET_MS = 5_000;
export const TASK_CHARS = 300;

// Completion
/** With less room than this above the field, the list looks for more below it. */
export const COMPLETION_PX = 300;
/** It keeps this distance from the field and from the edge of the window. */
export const COMPLETION_EDGE_PX = 12;
