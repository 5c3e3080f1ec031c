/**
 * `blockyard completion`: scripts for bash, zsh and fish, made from the commands' own tables, so that they know what the
 * commands know.
 */

import { readArguments } from "./args.ts";
import { type Command, EXIT } from "./command.ts";
import { print } from "./terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const options = {} as const;

export function completion(commands: () => Promise<readonly Command[]>): Command {
  return {
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "print a completion script for your shell",
    examples: [
      'eval "$(blockyard completion bash)"     # in ~/.bashrc',
      'eval "$(blockyard completion zsh)"      # in ~/.zshrc',
      "blockyard completion fish > ~/.config/fish/completions/blockyard.fish",
    ],
    options,
    choices: SHELLS,
    async run(args) {
      const { positionals } = readArguments({ name: "completion", options }, args, [
        1,
        1,
        `a shell: ${SHELLS.join(", ")}`,
      ]);
      const shell = SHELLS.find((each) => each === positionals[0]);
      if (!shell) {
        process.stderr.write(
          `blockyard: no completion script for ${positionals[0]}. Choose one of ${SHELLS.join(", ")}\n`,
        );
        return EXIT.usage;
      }
      await print(SCRIPTS[shell](await commands()));
      return EXIT.done;
    },
  };
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `# blockyard completion for bash
_blockyard() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(commands)}" -- "$word") $(compgen -d -- "$word"))
    return
  fi
  case "$command $before" in
${commands.flatMap(chosenInBash).join("\n")}
  esac
  if [ -z "$words" ]; then
    case "$command" in
${commands.map((command) => `      ${command.name}) words="${wordsOf(command)}" ;;`).join("\n")}
      help) words="${names(commands)}" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}
complete -o filenames -F _blockyard blockyard
`,
  zsh: (commands) => `#compdef blockyard
_blockyard() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`).join("\n")}
    'help:show help for a command'
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    _files -/
    return
  fi
  case "$words[2]" in
${commands.map(inZsh).join("\n")}
    help) _describe 'command' commands ;;
  esac
}
compdef _blockyard blockyard
`,
  fish: (commands) => `# blockyard completion for fish
complete -c blockyard -n __fish_use_subcommand -a help -d 'show help for a command'
${commands.flatMap(inFish).join("\n")}
`,
};

function names(commands: readonly Command[]): string {
  return [...commands.map(({ name }) => name), "help"].join(" ");
}

function wordsOf({ options = {}, choices = [] }: Command): string {
  return [...choices, ...Object.keys(options).map((option) => `--${option}`)].join(" ");
}

function chosenInBash({ name, options = {} }: Command): string[] {
  return Object.entries(options).flatMap(([option, { choices }]) =>
    choices ? [`    "${name} --${option}") words="${choices.join(" ")}" ;;`] : [],
  );
}

function inZsh({ name, options = {}, choices }: Command): string {
  const specs = Object.entries(options).map(([option, { summary, value, choices: some, multiple }]) => {
    const told = summary.replaceAll(/[[\]:]/g, " ");
    const argument = value === undefined ? "" : `:${value}:${some ? `(${some.join(" ")})` : "_files"}`;
    return quoted(`${multiple ? "*" : ""}--${option}[${told}]${argument}`);
  });
  const rest = choices ? `'1:what:(${choices.join(" ")})' '*:file:_files'` : "'*:file:_files'";
  return `    ${name}) shift words; (( CURRENT-- )); _arguments ${[...specs, rest].join(" ")} ;;`;
}

function inFish({ name, summary, options = {}, choices }: Command): string[] {
  const here = `complete -c blockyard -n '__fish_seen_subcommand_from ${name}'`;
  return [
    `complete -c blockyard -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...(choices ? [`${here} -a ${quoted(choices.join(" "))}`] : []),
    ...Object.entries(options).map(([option, { summary: told, short, value, choices: some }]) => {
      const dash = short === undefined ? "" : ` -s ${short}`;
      const takes = value === undefined ? "" : some ? ` -x -a ${quoted(some.join(" "))}` : " -r";
      return `${here} -l ${option}${dash}${takes} -d ${quoted(told)}`;
    }),
  ];
}

/** In single quotes, which all three shells read alike. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
