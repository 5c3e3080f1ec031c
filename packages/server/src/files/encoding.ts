/**
 * Bytes of a file as a text, and back. UTF-8 only; a byte order mark is kept aside, everything else of the text is the
 * bytes: decoding what was encoded, or the other way round, changes nothing.
 */

import { type Problem, problem } from "@blockyard/kernel";
import { bounds } from "./limits.ts";

interface Decoded {
  readonly text: string;
  /** The bytes begin with a byte order mark, which is no part of the text. */
  readonly hasBom: boolean;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function decodeFile(bytes: Buffer, name: string): Decoded | Problem {
  const first = bytes.subarray(0, 2).toString("latin1");
  if (first === "\xff\xfe" || first === "\xfe\xff") return notUtf8(name, "UTF-16");
  if (bytes.includes(0)) {
    return problem(
      "invalid",
      `${name} contains zero bytes, so it is binary (or UTF-16 without a byte order mark): only text files can be opened`,
      { path: name },
    );
  }
  const hasBom = bytes.subarray(0, BOM.length).equals(BOM);
  try {
    return { text: decoder.decode(hasBom ? bytes.subarray(BOM.length) : bytes), hasBom };
  } catch {
    return notUtf8(name, "LATIN1");
  }
}

export function encodeFile(text: string, hasBom: boolean): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return hasBom ? Buffer.concat([BOM, bytes]) : bytes;
}

/** The line ends of a text, as its first line has them. */
export function eolOf(text: string): "lf" | "crlf" {
  const newline = text.indexOf("\n");
  return newline > 0 && text[newline - 1] === "\r" ? "crlf" : "lf";
}

export function tooLarge(name: string, bytes: number): Problem {
  return problem(
    "too_large",
    `${name} has ${bytes} bytes; files of at most ${bounds.fileBytes} bytes can be opened. Split it, or read it with other tools`,
    { path: name, bytes, max_bytes: bounds.fileBytes },
  );
}

function notUtf8(name: string, from: string): Problem {
  return problem(
    "invalid",
    `${name} is not UTF-8${from === "UTF-16" ? " but UTF-16" : ""}: save it as UTF-8 first, for example with ` +
      `iconv -f ${from} -t UTF-8 (with the encoding that it really has)`,
    { path: name },
  );
}
