# fish completion for ulb-bench
set -l commands run topology counters beta gamma gemv gemm formats verify shapes model list plot export history
set -l runs 'not __fish_seen_subcommand_from topology counters shapes list plot model export history'

complete -c ulb-bench -f
complete -c ulb-bench -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c ulb-bench -l json -d 'One JSON document'
complete -c ulb-bench -l help -d 'Show the options'
complete -c ulb-bench -l version -d 'Show the version'
complete -c ulb-bench -l platform -x -a 'auto arl arlh lnl' -d 'Machine'
complete -c ulb-bench -n "$runs; or __fish_seen_subcommand_from model" -l models -r -F \
    -a 'falcon3-1b mobilellm-1.5b llama3-8b bitnet-2b-4t gptj-6b llama2-7b' -d 'Models'
complete -c ulb-bench -n $runs -l shapes -x -d 'Shapes of your own, MxK'
complete -c ulb-bench -n '__fish_seen_subcommand_from gemm' -l n -x -d 'Numbers of tokens'
complete -c ulb-bench -n $runs -l formats -x -a 'bf16 int8 int4 int3 int2 tern2 tern1.6 int1' -d 'Weight formats'
complete -c ulb-bench -l kernels -x -d 'Regular expression on names'
complete -c ulb-bench -n $runs -l set -x -a 'P E LP-E all' -d 'Cores to use'
complete -c ulb-bench -n $runs -l split -x -a 'static dynamic weighted' -d 'Rows to threads'
complete -c ulb-bench -l isa-mask -x -d 'Instruction sets not to use'
complete -c ulb-bench -n $runs -l seed -x -d 'Seed'
complete -c ulb-bench -n $runs -l ring-mib -x -d 'Size of the cold ring'
complete -c ulb-bench -n $runs -l progress -x -a 'auto on off' -d 'When to show progress'
complete -c ulb-bench -n $runs -l warm -d 'Weights from the caches'
complete -c ulb-bench -n $runs -l quick -d 'A shorter run'
complete -c ulb-bench -n $runs -l full -d 'The complete run'
complete -c ulb-bench -n $runs -l verbose -d 'More on standard error'
complete -c ulb-bench -n $runs -l count -d 'Instructions instead of times'
complete -c ulb-bench -n '__fish_seen_subcommand_from gamma' -l explain -x -d 'Why it costs that'
complete -c ulb-bench -l out -r -a '(__fish_complete_directories)' -d 'Directory'
complete -c ulb-bench -n '__fish_seen_subcommand_from model run' -l record -r -F -d 'Of the 1-bit kernels'
complete -c ulb-bench -n '__fish_seen_subcommand_from model' -l measure -d 'Measure the 1-bit kernels now'
complete -c ulb-bench -n '__fish_seen_subcommand_from model' -l check-paper -d 'Compare with published values'
complete -c ulb-bench -n '__fish_seen_subcommand_from shapes' -F
complete -c ulb-bench -n '__fish_seen_subcommand_from shapes' -l separate -d 'As the files hold them'
complete -c ulb-bench -n '__fish_seen_subcommand_from shapes' -l csv -d 'Comma-separated values'
complete -c ulb-bench -n '__fish_seen_subcommand_from list' -a 'kernels formats models shapes platforms cores counters figures'
complete -c ulb-bench -n '__fish_seen_subcommand_from plot' -F
complete -c ulb-bench -n '__fish_seen_subcommand_from plot' -l figure -x -a 'roofline bars kernels gemm tokens speedup beta gamma prediction groups errors split energy trend' -d 'Which'
complete -c ulb-bench -n '__fish_seen_subcommand_from plot' -l format -x -a 'svg png pdf txt' -d 'File type'
complete -c ulb-bench -n '__fish_seen_subcommand_from export' -F
complete -c ulb-bench -n '__fish_seen_subcommand_from export' -l to -x -a 'csv md sql googlebench gha-bigger gha-smaller bmf' -d 'Format'
complete -c ulb-bench -n '__fish_seen_subcommand_from export' -l section -x -a 'cells gamma.cells beta.cells beta.yardstick overlap.cells peak counts' -d 'Of a CSV'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -a 'add list trend bisect'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -F
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l db -r -F -d 'The history'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l cell -x -d 'Regular expression on keys'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l metric -x -a 'efficiency us gamma instructions' -d 'Figure'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l last -x -d 'Newest records'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l threshold -x -d 'Smallest change in per cent'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l format -x -a 'svg png pdf txt' -d 'Of the figures'
complete -c ulb-bench -n '__fish_seen_subcommand_from history' -l repo -r -a '(__fish_complete_directories)' -d 'Repository'
