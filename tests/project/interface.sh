#!/usr/bin/env bash
# The man page and the completions know every command and every option that the program has, and no other.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
docs=$ULB_SOURCE/docs

# argp leaves a line of blanks behind a text that fills its line, and no end of the last one.
for command in $("$bench" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
    "$bench" "$command" --help >"$scratch/help"
    ! grep -nE '^ +$' "$scratch/help" || fail "$command --help has a line of blanks; change the text above it"
    [[ -z $(tail -c 1 "$scratch/help") ]] || fail "$command --help ends without a newline; change its last text"
done

mapfile -t commands < <("$bench" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p')
((${#commands[@]} >= 8)) || fail "only ${#commands[@]} commands in --help"
options=$(for command in "${commands[@]}"; do "$bench" "$command" --help; done | grep -oE -- ' --[a-z-]+' | sort -u)
options+=$'\n --help\n --version'

for file in ulb-bench.1 completions/ulb-bench.bash completions/_ulb-bench completions/ulb-bench.fish; do
    for command in "${commands[@]}"; do
        grep -qwE -- "$command" "$docs/$file" || fail "$file does not know the command $command"
    done
    for option in $options; do
        name=${option#--}
        grep -qE -- "(--|Fl -|-l )$name([^a-z-]|$)" "$docs/$file" || fail "$file does not know $option"
    done
    while read -r name; do
        grep -qx -- " --$name" <<<"$options" || fail "$file knows --$name, which no command has"
    done < <(grep -v '^set -l' "$docs/$file" | grep -oE -- "('--|\)--| --|^.It Fl -|, Fl -|-l )[a-z-]+" |
        sed -E 's/.*(--|-l |Fl -)//' | sort -u)
done

# shellcheck source=docs/completions/ulb-bench.bash
source "$docs/completions/ulb-bench.bash"
COMP_WORDS=(ulb-bench list mo) COMP_CWORD=2 COMPREPLY=()
_ulb_bench
[[ ${COMPREPLY[*]} == models ]] || fail "bash completes 'list mo' as '${COMPREPLY[*]}'"
