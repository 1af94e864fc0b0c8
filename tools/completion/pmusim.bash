# SPDX-License-Identifier: MIT
# bash completion for pmusim(1), which is asked what could follow; file names where it knows of nothing.
_pmusim() {
  local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]}
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  [[ $current == [=:] ]] && current=
  local last=${words[-1]}
  mapfile -t COMPREPLY < <("${words[0]}" help --complete -- "${words[@]:1}" 2>/dev/null)
  # bash takes what is behind '=' and ':' for a word of its own.
  COMPREPLY=("${COMPREPLY[@]#"${last%"$current"}"}")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _pmusim pmusim
