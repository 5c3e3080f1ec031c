/** Shell wrappers, in every quoting that Codex has been seen to print. */
import { expect, it } from "vitest";
import { joinWords, splitWords, unwrapCommand, unwrapWords } from "./shell.ts";

it.each([
  ["/bin/bash -lc 'ls -1'", "ls -1"],
  ["bash -lc 'ls -1 && node test.js'", "ls -1 && node test.js"],
  ["/bin/bash -lc true", "true"],
  ["/bin/zsh -lc 'echo $HOME'", "echo $HOME"],
  ["/usr/bin/sh -c 'a; b'", "a; b"],
  ["/opt/homebrew/bin/fish -c 'a; b'", "a; b"],
  ["bash -l -c 'a b'", "a b"],
  ["bash --noprofile -lc 'a b'", "a b"],
  // Double quotes: a backslash is special before $ ` " \ only.
  [
    String.raw`/bin/bash -lc "head -c 40000 /dev/zero | tr \"\\0\" x"`,
    String.raw`head -c 40000 /dev/zero | tr "\0" x`,
  ],
  [
    String.raw`bash -lc "printf '\\033[31mred\\n'; echo \$HOME"`,
    String.raw`printf '\033[31mred\n'; echo $HOME`,
  ],
  ['bash -lc "echo \\`pwd\\`"', "echo `pwd`"],
  [String.raw`bash -lc "keep \n and \t as they are"`, String.raw`keep \n and \t as they are`],
  [`/bin/bash -lc 'read -p "name? " n; echo "hi $n"'`, `read -p "name? " n; echo "hi $n"`],
  // A quote inside single quotes is written by leaving them.
  [String.raw`bash -lc 'echo '\''hi'\'' there'`, "echo 'hi' there"],
  [`bash -lc 'it'"'"'s'`, "it's"],
  [String.raw`bash -lc echo\ hi`, "echo hi"],
  ["bash -lc 'first\nsecond\n'", "first\nsecond\n"],
  ["bash -lc ''", ""],
  [`powershell.exe -NoProfile -Command 'Get-ChildItem'`, "Get-ChildItem"],
  [`"C:\\\\Windows\\\\pwsh.exe" -Command ls`, "ls"],
  ["cmd.exe /c dir", "dir"],
  ["cmd /d /c 'dir /b'", "dir /b"],
])("[X7] the shell is taken off %s", (raw, command) => {
  expect(unwrapCommand(raw)).toBe(command);
});

it.each([
  ["echo x"],
  ["ls -1"],
  [""],
  ["bash"],
  ["bash script.sh"],
  ["bash -x script.sh arg"],
  ["bash -lc 'never closed"],
  ['bash -lc "never closed'],
  ["bash -lc trailing\\"],
  ["bash -lc 'echo $0' name"],
  ["crash -lc 'x'"],
  // Programs that are only called like a shell.
  ["./bash -lc 'git status'"],
  ["/w/evil/bash -lc 'git status'"],
  ["/tmp/bin/sh -c 'git status'"],
  ["/bin/../w/bash -lc 'git status'"],
  ["bin/bash -lc 'git status'"],
  [`"C:\\\\work\\\\cmd.exe" /c dir`],
  ["pwsh -WorkingDirectory /w/evil -Command ls"],
  ["npm run bash -lc x"],
])("[X7] without a shell that runs a script nothing is taken off %j", (raw) => {
  expect(unwrapCommand(raw)).toBe(raw);
});

it.each([
  [["/bin/bash", "-lc", "ls | wc"], "ls | wc"],
  [["echo", "a b", "it's"], `echo 'a b' 'it'\\''s'`],
  [["apply_patch", "*** Begin Patch\n"], "apply_patch '*** Begin Patch\n'"],
  [[], ""],
] as const)("[X7] a list of arguments %j", (words, command) => {
  expect(unwrapWords(words)).toBe(command);
});

it("[X7] what is joined is read back", () => {
  const lists = [
    ["a", "b c", "d'e", `f"g`, "h\\i", "j$k`l", "", "m\nn", "é 👋"],
    ["'", "''", "\\", '"'],
    ["-x", "--y=z"],
  ];
  for (const words of lists) expect(splitWords(joinWords(words))).toEqual(words);
});

it("[X7] reading is linear in the length", () => {
  const script = "x ".repeat(500_000);
  expect(unwrapCommand(`bash -lc '${script}'`)).toBe(script);
  expect(unwrapCommand(`bash -lc ${"'".repeat(100_001)}`)).toMatch(/^bash/);
});
