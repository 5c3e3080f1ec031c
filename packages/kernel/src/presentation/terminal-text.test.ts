/** Terminal output: colours stay, tricks do not. */
import { describe, expect, test } from "vitest";
import { paletteColor, plainTerminal, readTerminal } from "./terminal-text.ts";

const ESC = "\u001b";

describe("terminal text", () => {
  test.each([
    ["plain\ntext\n", "plain\ntext\n"],
    ["progress 10%\rprogress 100%", "progress 100%"],
    ["abc\b\bX", "aXc"],
    [`long line${ESC}[2K\rshort`, "short    "],
    [`12345\r${ESC}[K67`, "67"],
    [`a${ESC}[3Cb`, "a   b"],
    [`${ESC}]0;title\u0007shown`, "shown"],
    [`${ESC}]8;;https://example.org${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
    [`${ESC}]52;c;ZXZpbA==\u0007x`, "x"],
    [`${ESC}P1$r0m${ESC}\\x`, "x"],
    [`${ESC}_apc${ESC}\\x`, "x"],
    ["\u009b31mred", "red"],
    ["\u009d0;t\u0007x", "x"],
    [`a${ESC}[2Jb`, "ab"],
    [`a${ESC}[10A${ESC}[5;5Hb`, "ab"],
    [`a${ESC}(Bb`, "ab"],
    [`a${ESC}`, "a"],
    [`a${ESC}[`, "a"],
    ["a\u0000\u0007\u007fb", "ab"],
    ["tab\there", "tab\there"],
    ["😀\b!", "!"],
  ])("[R37] %j reads %j", (output, text) => {
    expect(plainTerminal(output)).toBe(text);
  });

  test("colours continue over lines until they are reset", () => {
    const lines = readTerminal(`${ESC}[1;31mred\nstill${ESC}[0m plain`);
    expect(lines).toEqual([
      [{ text: "red", style: { bold: true, fg: 1 } }],
      [
        { text: "still", style: { bold: true, fg: 1 } },
        { text: " plain", style: {} },
      ],
    ]);
  });

  test("256 colours and true colour, bright ones and nonsense", () => {
    const style = (codes: string) => readTerminal(`${ESC}[${codes}mx`)[0]?.[0]?.style;
    expect(style("38;5;202")).toEqual({ fg: 202 });
    expect(style("48;2;1;2;3")).toEqual({ bg: "1, 2, 3" });
    expect(style("38;2;1;2;999")).toEqual({});
    expect(style("91;39")).toEqual({});
    expect(style("97")).toEqual({ fg: 15 });
    expect(style("38;5")).toEqual({});
    expect(paletteColor(16)).toBe("0, 0, 0");
    expect(paletteColor(231)).toBe("255, 255, 255");
    expect(paletteColor(255)).toBe("238, 238, 238");
  });

  test("a far column produces a bounded line", () => {
    expect(plainTerminal(`${ESC}[999999999Cx`).length).toBeLessThanOrEqual(10_001);
  });

  test("many far columns and many erasures cost a bounded output", () => {
    expect(plainTerminal(`${ESC}[10000Gx\n`.repeat(20_000)).length).toBeLessThan(3_000_000);
    expect(plainTerminal(`${"a".repeat(300_000)}${`${ESC}[1K`.repeat(20_000)}`).length).toBe(300_000);
    expect(plainTerminal(`${"a".repeat(300_000)}${`\rx${ESC}[2K`.repeat(20_000)}`).length).toBe(300_000);
  });
});
