/** What a shell has to be told so that it asks `muster complete` for what may come next. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = String.raw`# completion of muster for bash
_muster() {
  local word rest
  COMPREPLY=()
  while IFS=$'\t' read -r word rest; do
    COMPREPLY+=("$word")
  done < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _muster muster
`;

const ZSH = String.raw`#compdef muster
# completion of muster for zsh
_muster() {
  local -a found
  local word text
  while IFS=$'\t' read -r word text; do
    found+=("\${word//:/\\:}:$text")
  done < <("$words[1]" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe muster found; else _files; fi
}
if [ "$funcstack[1]" = "_muster" ]; then _muster "$@"; else compdef _muster muster; fi
`;

const FISH = `# completion of muster for fish
function __muster_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] complete -- $words[2..] "$current" 2>/dev/null
end
complete -c muster -f -a '(__muster_complete)'
complete -c muster -s f -l file -r -F
`;

// A template needs its own sign escaped, and a raw one keeps the escape.
const written = (script: string): string => script.replaceAll('\\${', '${');

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: written(BASH),
  zsh: written(ZSH),
  fish: FISH,
};
