# fish completion for ulb-bench. The program itself is asked what may stand at the cursor.
function __ulb_bench_words
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($typed[1] completion words -- $typed[2..-1] "$current" 2>/dev/null)
    set -l stays $lines[1]
    set -l begun (string sub -s (math 1 + (string length -- "$stays")) -- "$current")
    for line in $lines[2..-1]
        switch $line
            case '\*/'
                printf "$stays%s\n" (__fish_complete_directories "$begun" '')
            case '\**'
                printf "$stays%s\n" (__fish_complete_path "$begun" | string match -r -- '.*/(?:\t.*)?$|.*'(string replace -a . '\\.' -- (string sub -s 2 -- $line))'(?:\t.*)?$')
            case '*'
                echo $stays$line
        end
    end
end
complete -c ulb-bench -f -a '(__ulb_bench_words)'
