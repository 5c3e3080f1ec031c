/**
 * The settings of a configuration of git, in the order in which they stand. Read as git reads them: what one of the two overlooked
 * could be made to run unseen.
 */

/** A setting as `section.key = value`. */
export interface GitSetting {
  readonly name: string;
  /** What the section is about: `origin` in `[remote "origin"]`. */
  readonly of?: string;
  readonly value: string;
}

/** As git reads it: several sections may be on a line, a comment ends with its line, a value may continue on the next. */
export function settingsIn(text: string): readonly GitSetting[] {
  const reader = new ConfigReader(text.replaceAll("\r\n", "\n"));
  const settings: GitSetting[] = [];
  let section = "";
  let about: { readonly of?: string } = {};
  while (reader.more()) {
    const head = reader.take(SECTION);
    if (head) {
      section = /^\s*([^\s".]*)/.exec(head[1] ?? "")?.[1]?.toLowerCase() ?? "";
      const quoted = /"(.*)"/.exec(head[1] ?? "")?.[1];
      about = quoted === undefined ? {} : { of: quoted.replace(/\\(.)/g, "$1") };
    } else {
      const key = reader.take(KEY)?.[0];
      if (key === undefined) reader.skip();
      else settings.push({ name: `${section}.${key.toLowerCase()}`, ...about, value: reader.value() });
    }
  }
  return settings;
}

/** Each character can be read in one way only, so that an unclosed section is read once. */
const SECTION = /\[((?:[^\]"\\\n]|\\.|"(?:[^"\\\n]|\\.)*")*)\]/y;
const KEY = /[^\s=#;[\]]+/y;
const BLANK = /\s+|[#;].*/y;

class ConfigReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether something follows that is neither blank nor a comment. */
  more(): boolean {
    while (this.take(BLANK));
    return this.#at < this.#text.length;
  }

  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text);
    if (taken) this.#at += taken[0].length;
    return taken;
  }

  /** Over what git would refuse: a section without an end, with its line. */
  skip(): void {
    if (!this.take(/\[.*/y)) this.#at++;
  }

  /** After a key; without `=` there is none. */
  value(): string {
    this.take(/[ \t]*/y);
    if (this.#text[this.#at] !== "=") return "";
    const start = ++this.#at;
    let isQuoted = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === "\n" || (!isQuoted && (char === "#" || char === ";"))) break;
      if (char === "\\") this.#at++;
      else if (char === '"') isQuoted = !isQuoted;
    }
    const said = this.#text.slice(start, this.#at).replace(/\\\n/g, "");
    return said.replace(/\\(.)/g, "$1").replaceAll('"', "").trim();
  }
}
