/**
 * Character references in Markdown (`&mdash;`, `&#8212;`) as the characters that they stand for, for the page and for exports
 * alike. The names are those that people and models write; unknown ones stay as they were written.
 */

/** Names of characters that follow each other, from the first one on. */
const ROWS: readonly (readonly [first: number, names: string])[] = [
  [
    0xa0,
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
      "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave " +
      "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute " +
      "Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave " +
      "iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml",
  ],
  [0x391, "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho"],
  [0x3a3, "Sigma Tau Upsilon Phi Chi Psi Omega"],
  [0x3b1, "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf"],
  [0x3c3, "sigma tau upsilon phi chi psi omega"],
  [0x2190, "larr uarr rarr darr harr"],
  [0x21d0, "lArr uArr rArr dArr hArr"],
];

/** All others, by their characters. */
const SINGLE: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" },
  ...{
    hellip: "…",
    mdash: "—",
    ndash: "–",
    bull: "•",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    sbquo: "‚",
    bdquo: "„",
  },
  ...{
    lsaquo: "‹",
    rsaquo: "›",
    euro: "€",
    trade: "™",
    dagger: "†",
    Dagger: "‡",
    permil: "‰",
    prime: "′",
    check: "✓",
    cross: "✗",
  },
  ...{
    minus: "−",
    le: "≤",
    ge: "≥",
    ne: "≠",
    asymp: "≈",
    equiv: "≡",
    infin: "∞",
    sum: "∑",
    prod: "∏",
    radic: "√",
    int: "∫",
  },
  ...{
    part: "∂",
    nabla: "∇",
    isin: "∈",
    notin: "∉",
    cap: "∩",
    cup: "∪",
    sub: "⊂",
    sup: "⊃",
    forall: "∀",
    exist: "∃",
    empty: "∅",
  },
  ...{
    and: "∧",
    or: "∨",
    there4: "∴",
    star: "☆",
    starf: "★",
    OElig: "Œ",
    oelig: "œ",
    Scaron: "Š",
    scaron: "š",
  },
};

const NAMED = new Map([
  ...Object.entries(SINGLE),
  ...ROWS.flatMap(([first, names]) =>
    names.split(" ").map((name, i): [string, string] => [name, String.fromCodePoint(first + i)]),
  ),
]);

export function decodeReferences(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{1,8}\d{0,2}));/g,
    (all, decimal, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? all;
      const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
      const isText =
        code > 0x1f &&
        code <= 0x10ffff &&
        !(code >= 0xd800 && code <= 0xdfff) &&
        !(code >= 0x7f && code <= 0x9f);
      return isText ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
