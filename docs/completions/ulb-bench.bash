# shellcheck shell=bash
# bash completion for ulb-bench. The program itself is asked what may stand at the cursor.
_ulb_bench() {
    local program=${COMP_WORDS[0]/#\~/$HOME} stays word
    COMPREPLY=()
    while IFS= read -r word; do
        if [[ ! -v stays ]]; then
            stays=$word
        elif [[ $word == '*'* ]]; then
            compopt -o filenames
            local begun=${COMP_WORDS[COMP_CWORD]#=}
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$stays" -d -- "${begun#"$stays"}")
            [[ $word == '*/' ]] ||
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -P "$stays" -f -X "!$word" -- "${begun#"$stays"}")
        else
            COMPREPLY+=("$stays${word%%$'\t'*}")
        fi
    done < <("$program" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ulb_bench ulb-bench
