#!/usr/bin/env bash
# Every command in a code block of the README and the docs runs and exits 0, or is skipped for a reason that stands here.
# Commands and options that the text names exist.
# usage: docs.sh [--all]     without --all, commands that measure get options behind theirs that make them short
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
docs=("$ULB_SOURCE"/README.md "$ULB_SOURCE"/docs/*.md "$ULB_SOURCE"/docs/*/*.md)
cd "$scratch"
# The records, the model and the programs that the docs name, and what they compile.
mkdir -p ulb-results bin build Qwen3-Next-80B-A3B-Instruct
"$ULB_BUILD/tests/results/sample_record" ulb-results
cp ulb-results/0.json ulb-results/RUN.json
cp ulb-results/1.json ulb-results/A.json
cp ulb-results/4.json ulb-results/B.json
cp ulb-results/0.json before.json
cp ulb-results/4.json after.json
cat >Qwen3-Next-80B-A3B-Instruct/config.json <<'J'
{"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 48, "vocab_size": 151936, "head_dim": 256,
 "num_attention_heads": 16, "num_key_value_heads": 2, "intermediate_size": 5120, "moe_intermediate_size": 512,
 "shared_expert_intermediate_size": 512, "num_experts": 512, "num_experts_per_tok": 10, "decoder_sparse_step": 1,
 "mlp_only_layers": [], "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
 "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128, "tie_word_embeddings": false}
J
ln -s "$bench" bin/ulb-bench
ln -s "$ULB_BUILD" build/release
ln -s "$ULB_SOURCE"/{common,kernels,tests} .
PATH=$PWD/bin:$PATH

# What shortens a command. An option that the command has already stays as it is.
shorten() { # LINE
    case "${1#ulb-bench} " in
    *' --explain '* | *' --count '* | *' --kernels '* | ' formats '*' --formats '*) ;;
    ' --quick '*) echo --models bitnet-125m --ring-mib 64 --kernels int1a8-mask ;;
    ' beta '*) echo --ring-mib 64 ;;
    ' gamma '*) echo --kernels int1a8-mask ;;
    ' formats '*) echo --formats int8,q4_0 ;;
    ' gemv '* | ' gemm '*) echo "--ring-mib 64 --kernels '-(avx2|neon)-'" ;;
    ' decode '*) echo "--ring-mib 64 --layers 2 --kernels '-(avx2|neon)-'" ;;
    esac
}

# Lines of code blocks, indented or fenced, without the remark behind a '#' or two blanks.
code_lines() {
    awk 'FNR == 1 { fenced = 0 } /^```/ { fenced = !fenced; next } fenced || /^    / { print }' "${docs[@]}" |
        sed -E 's/^ +//; s/ +#.*//; s/  +.*//' | sort -u
}

run() { # LINE
    bash -c "$1" >out 2>err || fail "$1: exit $?: $(head -3 err)"
    count=$((count + 1))
}

count=0
while read -r line; do
    case $line in
    'ulb-bench compare --beside '*) ;; # cli.compare_beside measures builds whose times are known
    'ulb-bench '*)
        more=
        [[ ${1:-} == --all ]] || more=$(shorten "$line")
        run "$line $more"
        [[ -s out || $line == *'>'* ]] || fail "$line prints nothing"
        ;;
    'cc '* | build/release/*) run "$line" ;;
    scripts/*) [[ -x $ULB_SOURCE/${line%% *} ]] || fail "${line%% *} is not there" ;; # these build and test all
    'cmake '* | 'cpack '*) ;;                                                         # project.install and project.package do
    'apt-get '* | 'tar xf '*) ;;                                                      # needs root, or a released package
    'git tag '* | 'cd build/release && cpack '*) ;;                                   # makes a release
    *) ! command -v "${line%% *}" >/dev/null || fail "nothing runs '$line' of the docs; run it here, or say why not" ;;
    esac
done < <(code_lines)
((count >= 30)) || fail "only $count commands found in the docs"

# `ulb-bench COMMAND --option` and `--option` in the text: options of a command, or of a script of the tests.
options=$("$bench" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p' |
          while read -r command; do "$bench" "$command" --help; done | grep -oE -- '--[a-z-]+' | sort -u; echo --help)
# shellcheck disable=SC2016
while read -r command rest; do
    [[ $command == -* ]] || "$bench" "$command" --help >help || fail "the docs name the command $command"
    for option in $(grep -oE -- '(^| )--[a-z-]+' <<<"$command $rest" || true); do
        grep -qx -- "$option" <<<"$options" || grep -rqE -- "[\"' ]${option}[\"')]" "$ULB_SOURCE"/{scripts,tests/faults} ||
            fail "the docs name $option, which no command has"
    done
done < <(grep -ohE '`(ulb-bench [a-z-]|--[a-z])[^`]*`' "${docs[@]}" | sed -E 's/^`(ulb-bench )?//; s/`$//' | sort -u)
echo "docs: $count commands ran"
