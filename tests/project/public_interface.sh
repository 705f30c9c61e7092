#!/usr/bin/env bash
# The man page knows every command, a letter stands for one option, and completion offers commands and values, in each
# shell that is installed the same. The options themselves: options.py.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
docs=$ULB_SOURCE/docs
cd "$scratch"

# argp leaves a line of blanks behind a text that fills its line, and no end of the last one.
for command in $("$bench" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
    "$bench" "$command" --help >"$scratch/help"
    ! grep -nE '^ +$' "$scratch/help" || fail "$command --help has a line of blanks; change the text above it"
    [[ -z $(tail -c 1 "$scratch/help") ]] || fail "$command --help ends without a newline; change its last text"
done

mapfile -t commands < <("$bench" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p')
((${#commands[@]} >= 8)) || fail "only ${#commands[@]} commands in --help"

# letters: "X NAME" of every option in a help text that has a short letter. two_names: letters of two long names.
letters() { sed -nE 's/^ +-([a-zA-Z]), --([a-z-]+).*/\1 \2/p' | sort -u; }
two_names() { cut -c1 | uniq -d; }
[[ $(printf '  -m, --metric=NAME  x\n  -q, --quick\n  -m, --models=M\n' | letters | two_names) == m ]] ||
    fail "a letter of two options is not seen"
of_help=$(for command in "${commands[@]}"; do "$bench" "$command" --help; done | letters)
(($(wc -l <<<"$of_help") >= 12)) || fail "only these letters in --help: $of_help"
for letter in $(two_names <<<"$of_help"); do
    fail "-$letter stands for different options: $(sed -n "s/^$letter /--/p" <<<"$of_help" | xargs)"
done

for command in "${commands[@]}"; do
    grep -qwE -- "$command" "$docs/ulb-bench.1" || fail "the man page does not know the command $command"
done

# words WORD...: what the program offers a shell for the last word, without what that is.
words() { "$bench" completion words -- "$@" | tail -n +2 | cut -f1; }
[[ $(words '') == "$(printf '%s\n' "${commands[@]}")"* ]] || fail "not every command is offered: $(words '')"

# Each value is known to completion or free.
free='N|N,|X|GIB|PERCENT|REGEX|NS|US|ROWS|TILES|SHARE,'
for command in "${commands[@]}"; do
    "$bench" "$command" --help >"$scratch/help"
    while IFS='=' read -r option value; do
        [[ $value =~ ^($free)(\.\.\.)?$ || $(words "$command" "$option" '') ]] ||
            fail "$command: nothing completes $option=$value; harness/cli/completion.c knows which names can be"
    done < <(grep -oE -- '--[a-z-]+=[^ ]+' "$scratch/help" || true)
done

expect_words() { # WORDS-EXPECTED WORD...
    local wanted=$1 got
    shift
    got=$(words "$@" | xargs)
    [[ $got == "$wanted" ]] || fail "completion of '$*' is '$got', not '$wanted'"
}
expect_words models list mo
expect_words 'static dynamic weighted' gemv --split ''
expect_words 'dynamic' decode --split static,d
expect_words 'auto on off' --progress = ''
expect_words 'png pdf' plot --format=svg,p
expect_words '*.json' history add ''
expect_words '' history list ''
expect_words '*/' gemv -o ''
[[ $("$bench" completion words -- gemv --formats=int8,bf | tr '\n\t' '; ') == '--formats=int8,;bf16 '* ]] || fail "what stays of a list"
[[ $(words gamma --kernels '' | wc -l) == "$("$bench" list kernels --json | grep -c '"name"')" ]] || fail "not every kernel is offered"
expect 2 "no completion for the shell 'csh'" "$bench" completion csh
for script in bash:ulb-bench.bash zsh:_ulb-bench fish:ulb-bench.fish; do
    cmp "$docs/completions/${script#*:}" <("$bench" completion "${script%:*}") || fail "another script is printed for $script"
done
