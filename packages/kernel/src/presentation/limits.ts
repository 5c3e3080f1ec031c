/** Bounds of what is shown: what is closed, cut or not tried at all. */

// Ask bounds
/** How much of what an agent asks is put before its owner at once. */
export const ASK_BOUNDS = {
  questions: 20,
  /** Of one question. */
  options: 100,
  fields: 100,
  /** Of one field, and of a form. */
  fieldOptions: 1_000,
  formOptions: 2_000,
  /** Of what a field has at first: more is nothing that somebody reads before sending it. */
  initialChars: 2_000,
  /** Answers that an agent offers, and characters of one: it has to be read whole, on a button. */
  suggestions: 50,
  suggestionChars: 1_000,
  /** Characters of a name, a label or a question, and of what is to be allowed, that are shown without asking for more. */
  wordsChars: 2_000,
  exactChars: 100_000,
  /** Values of an input that are shown by name. */
  inputValues: 100,
} as const;

// Call line
export const SUBJECT_CHARS = 400;
export const SENTENCE_CHARS = 160;

// Closed result
/** A shorter text is no longer than its replacement. */
export const CLOSED_RESULT_CHARS = 300;
/** This much of a longer line: more than is shown of it, whatever terminal codes are in it. */
export const CLOSED_LINE_CHARS = 2_000;

// Gather
/** A shorter time is not shown. */
export const SHOWN_DURATION_MS = 100;

// Long text
export const FOLD_LINES = 10;
export const FOLD_CHARS = 4_000;
/** Lines of a closed result that are shown anyway. */
export const HEAD_LINES = 4;
export const TAIL_LINES = 3;
export const EXCERPT_CHARS = 240;

// Loudness
/** A diff of more changed lines, or of more characters, shows its beginning. */
export const DIFF_CHANGED_LINES = 30;
export const DIFF_CHARS = 20_000;
/** A report is meant to be read: it may be longer than reference output. */
export const REPORT_LINES = 60;
export const REPORT_CHARS = 8_000;
export const RUNNING_LINES = 6;
export const FAILED_LINES = 12;

// Markdown bound
/** Characters that may be scanned repeatedly: a minimum for any text, more for longer ones. */
export const FREE_WORK_CHARS = 10_000_000;
/** The same for a text that is lexed again with each of its pieces. */
export const FREE_WORK_GROWING_CHARS = 2_000_000;
export const WORK_PER_CHARACTER = 200;
/** The content of a shorter paragraph or item is not counted: most texts have no others. */
export const USUAL_PARAGRAPH_CHARS = 1_000;
/** For an unclosed bracket the lexer scans this far, once and repeatedly. */
export const OPEN_BRACKET_CHARS = 3_000;
export const MARKDOWN_DEPTH = 100;
export const TABLE_CELLS = 100_000;

// Markdown math
/** A longer one does not count: the search after every dollar is bounded. */
export const FORMULA_CHARS = 4_000;
/** How far ahead the start of a formula is searched at a time. */
export const FORMULA_WINDOW_CHARS = 1_000;

// Output summary
/** Only this many lines at the end are checked. */
export const SUMMARY_LINES = 12;
export const SUMMARY_CHARS = 120;

// Partial JSON
/** The longest number that is still waited for; longer ones are no numbers that anyone wrote. */
export const JSON_NUMBER_CHARS = 400;

// Search hit
/** This much of a longer line after the match. */
export const HIT_CHARS = 200;

// Terminal text
/** A line that moves its cursor past this is not a line any more. */
export const TERMINAL_COLUMNS = 10_000;
/** Cells that one output may fill with blanks, by moving far to the right and by erasing; then it does neither any more. */
export const TERMINAL_BLANKS = 2_000_000;

// Tool title
export const IDENTIFIER_CHARS = 80;
export const TOOL_TITLE_CHARS = 200;

/** A text of the system's that is shorter, and one line, is a notice. */
export const NOTICE_CHARS = 200;
/** What an agent's own command answers is shown whole up to here. */
export const OPEN_NOTICE_CHARS = 4_000;

/** What seems to have taken longer than this was measured by a clock that was set. */
export const TOOK_MS = 1e9;
