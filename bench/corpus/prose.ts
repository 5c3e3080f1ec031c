/**
 * A model's text, made from a seed: explanations in English with lists, code blocks and file names, as tokens of about
 * four characters. Not random letters, and not one text repeated: it compresses about as well as real answers do (a
 * block of 2 KB to about half).
 */

const COMMON = `the of and to a in is that it for on with as this be are by not from or an at which if we can when
has have was will but then each all only into its so more also than other any no there their they you your one two first
same after before where while because between without must should would could does do did how what who about over under
both such most less few many much still just here now once again never always often during through against until`;

const STEMS = `block text write read edit line file path index store commit version change merge order number name value
key list table row column page cache buffer queue stream token chunk offset length size limit count bound state status
error problem failure retry timeout request response answer call return result input output argument option default
check test assert expect compare match search find replace insert delete append remove update create open close start
stop run wait wake signal event listen handle send receive connect session client server process thread worker task
agent model person user author owner role provider adapter message turn conversation branch head parent child node tree
root leaf path walk visit fold split join cut copy move keep drop hold lock release guard protect allow deny refuse
accept promise await resolve reject throw catch recover restore backup replay snapshot journal log record entry field
type kind schema format encode decode parse print render draw show hide select filter sort group count sum average
measure compute calculate estimate predict guess choose decide plan build compile bundle install deploy release publish
document describe explain note mention cite quote link refer point follow lead depend require import export include
exclude extend implement define declare assign bind apply invoke trigger schedule delay defer batch flush sync fetch
load save persist expire evict reclaim allocate free reuse share isolate separate combine mix blend layer wrap unwrap
convert cast clone freeze seal verify validate sanitize escape quote trim pad align indent wrap break continue loop
iterate repeat recurse descend ascend climb fall rise grow shrink expand collapse stretch reach touch press hold drag`;

const QUALITIES = `small large short long new old fast slow simple complex plain rich empty full open closed first last
early late local remote public private safe unsafe stable broken clean dirty sharp blunt strict loose exact rough equal
different similar common rare usual strange clear vague direct indirect single double whole partial final initial current
previous next upper lower inner outer left right true false good bad better worse best worst careful careless explicit
implicit optional required recent durable volatile concurrent sequential parallel serial pure mutable immutable`;

const LONGEST_TOKEN = 7;
const CUT_TOKEN = 6;

const CALLS = [
  "map",
  "filter",
  "push",
  "slice",
  "join",
  "get",
  "set",
  "has",
  "forEach",
  "at",
  "commit",
  "append",
];
const ENDINGS = ["", "", "", "s", "s", "ed", "ing", "er", "able", "ment"];

export interface Source {
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number;
}

/** A generator of numbers that depends on nothing but its seed. */
export function seeded(seed: number): Source {
  let state = seed >>> 0;
  return {
    below(limit) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}

const common = COMMON.split(/\s+/);
const qualities = QUALITIES.split(/\s+/);
const stems = STEMS.split(/\s+/);
const words = stems.flatMap((stem) => ENDINGS.map((ending) => bend(stem, ending)));

/** Tokens of one answer, without end. */
export function* tokens(source: Source): Generator<string> {
  for (;;) {
    const kind = source.below(10);
    const text = kind < 6 ? paragraph(source) : kind < 8 ? bullets(source) : code(source);
    yield* cut(text);
  }
}

/** About as a tokenizer would: a short word with the space before it, a longer one in pieces, signs by themselves. */
function* cut(text: string): Generator<string> {
  for (const [word] of text.matchAll(/ ?[A-Za-z]+| ?\d{1,3}|\s+|[^\sA-Za-z\d]{1,2}/g)) {
    if (word.length <= LONGEST_TOKEN) yield word;
    else for (let at = 0; at < word.length; at += CUT_TOKEN) yield word.slice(at, at + CUT_TOKEN);
  }
}

function paragraph(source: Source): string {
  const sentences = Array.from({ length: 2 + source.below(4) }, () => sentence(source));
  return `${sentences.join(" ")}\n\n`;
}

function sentence(source: Source): string {
  const parts = Array.from({ length: 6 + source.below(14) }, () => word(source));
  const at = source.below(12);
  if (at < 3) parts[parts.length - 1] = `\`${identifier(source)}\``;
  if (at === 3) parts.splice(2, 0, `(${word(source)} ${source.below(500)})`);
  if (at === 4) parts.splice(3, 0, `${parts.splice(3, 1)[0]},`);
  const text = parts.join(" ");
  return `${(text[0] as string).toUpperCase()}${text.slice(1)}.`;
}

function bullets(source: Source): string {
  const items = Array.from({ length: 2 + source.below(5) }, () => `- ${sentence(source)}`);
  return `${items.join("\n")}\n\n`;
}

function code(source: Source): string {
  const lines = Array.from({ length: 3 + source.below(9) }, () => statement(source));
  const name = identifier(source);
  return `\`\`\`ts\nexport function ${name}(${pick(source, stems)}: string) {\n${lines.join("\n")}\n}\n\`\`\`\n\n`;
}

function statement(source: Source): string {
  const name = identifier(source);
  const call = `${pick(source, stems)}.${pick(source, CALLS)}(${identifier(source)})`;
  switch (source.below(5)) {
    case 0:
      return `  const ${name} = ${call};`;
    case 1:
      return `  if (${name} === ${source.below(100)}) return ${call};`;
    case 2:
      return `  for (const ${pick(source, stems)} of ${name}) ${call};`;
    case 3:
      return `  // ${sentence(source)}`;
    default:
      return `  await ${call};`;
  }
}

function identifier(source: Source): string {
  const tail = pick(source, stems);
  return `${pick(source, stems)}${(tail[0] as string).toUpperCase()}${tail.slice(1)}`;
}

/** Nearly half of all words are of the common ones, and of those the first are the most common. */
function word(source: Source): string {
  const kind = source.below(100);
  if (kind < 45) return common[Math.min(source.below(common.length), source.below(common.length))] as string;
  if (kind < 58) return pick(source, qualities);
  return words[Math.min(source.below(words.length), source.below(words.length))] as string;
}

function pick<T>(source: Source, list: readonly T[]): T {
  return list[source.below(list.length)] as T;
}

function bend(stem: string, ending: string): string {
  return stem.endsWith("e") && /^[eai]/.test(ending) ? stem.slice(0, -1) + ending : stem + ending;
}
