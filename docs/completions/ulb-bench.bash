# shellcheck shell=bash
# bash completion for ulb-bench
_ulb_bench() {
    local commands='run topology counters beta gamma gemv gemm decode formats verify shapes model simulate list plot report compare export history'
    local common='--json --help --version'
    local timed='--quick --full --set --isa-mask --seed --ring-mib --out --progress --verbose'
    local grid="--models --shapes --formats --kernels --kernel-library --call-timeout --split --warm --aa --resume $timed"
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=run words=''
    [[ ${COMP_WORDS[1]} == -* || $COMP_CWORD -le 1 ]] || command=${COMP_WORDS[1]}
    case $previous in
    --platform)  words='auto arl arlh lnl' ;;
    --formats | --weights) words='fp32 fp16 bf16 int8 int4 int3 int2 tern2 tern1.6 int1 u1 u2 u3 u4 u5 u6 u7 u8 woq8 woq4 woq8z woq4z nf4 fp4' ;;
    --model | --models)
        words='falcon3-1b mobilellm-1.5b llama3-8b bitnet-2b-4t gptj-6b llama2-7b'
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    --set)       words='P E LP-E all' ;;
    --threads)   words='each P E LP-E all' ;;
    --split)     words='static dynamic weighted' ;;
    --sharing)   words='equal fair' ;;
    --layers)    words='auto all' ;;
    --progress)  words='auto on off' ;;
    --figure)    words='roofline bars kernels gemm tokens speedup beta gamma prediction groups errors split energy trend' ;;
    --format)    words='svg png pdf txt' ;;
    --to)        words='csv md sql googlebench gha-bigger gha-smaller bmf' ;;
    --section)   words='cells gamma.cells beta.cells beta.yardstick overlap.cells peak counts decode.runs' ;;
    --metric)    words='efficiency gbps us gamma instructions tps joule' ;;
    --n | --threshold | --call-timeout | --cell | --last | --shapes | --kernels | --explain | --seed | --ring-mib | --isa-mask | --tokens | --context | --prompt | \
        --slow-thread | --split-weights | --tile | --chunk | --take-ns | --fork-join) return ;;
    --db)        mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --record | --resume) mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current"); return ;;
    --kernel-library) mapfile -t COMPREPLY < <(compgen -f -X '!*.so' -- "$current"); return ;;
    --import) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --out | --repo | --energy-root)
        # The page of a report is a file.
        [[ $command == report ]] && mapfile -t COMPREPLY < <(compgen -f -X '!*.html' -- "$current")
        [[ $command == report ]] || mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
        ;;
    *)
        case $command in
        gamma)    words="--formats --kernels --kernel-library --call-timeout --explain $timed $common" ;;
        run)      words="--platform --record --count $grid $common" ;;
        decode)
            words="--model --weights --tokens --context --prompt --threads --layers --record --split-weights --slow-thread --import --energy-root --kernels --kernel-library --call-timeout --split $timed $common"
            ;;
        gemm)     words="--n $grid $common" ;;
        gemv)     words="$grid $common" ;;
        beta)     words="$timed $common" ;;
        formats)  words="--formats --kernels --kernel-library --call-timeout $timed $common" ;;
        verify)   words="--formats --kernels --kernel-library --call-timeout --isa-mask --seed $common" ;;
        shapes)
            words="--separate --csv $common falcon3-1b llama3-8b"
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            ;;
        model)    words="--platform --models --record --measure --out --check-paper $common" ;;
        simulate)
            words="--platform --models --shapes --formats --split --sharing --tile --chunk --take-ns --fork-join --check-paper $common"
            ;;
        list)     words="kernels formats models shapes platforms cores counters figures --kernels --kernel-library --isa-mask $common" ;;
        plot)
            words="--figure --format --out --force $common"
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
            ;;
        report)
            words="--out --force $common"
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
            ;;
        compare)
            words="--metric --threshold --confirm --kernel-library --force --all --markdown --junit --github $common"
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
            ;;
        export)
            words="--to --section $common"
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
            ;;
        history)
            words="add list trend bisect --db --cell --metric --last --threshold --out --format --repo $common"
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
            ;;
        *)        words=$common ;;
        esac
        ((COMP_CWORD > 1)) || words+=" $commands"
        ;;
    esac
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _ulb_bench ulb-bench
