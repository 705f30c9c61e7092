#!/usr/bin/env bash
# Bad input and hostile surroundings: one clear line on stderr, the documented exit code, nothing measured is lost.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
cd "$scratch"
export LC_ALL=C

# Names and values.
expect 2 "unknown command 'frobnicate'.*gemv" "$bench" frobnicate
expect 2 "frob" "$bench" --frob
for command in beta topology counters "list models" "simulate --chunk 1" "model --check-paper"; do
    # shellcheck disable=SC2086
    expect 2 "surplus argument 'surplus'; try" "$bench" $command surplus
done
# A name that is near is suggested; of two that are as near none is.
expect 2 "unknown command 'gemvv'; did you mean 'gemv'\\?$" "$bench" gemvv
expect 2 "unknown command 'gemvv'; did you mean 'gemv'\\?$" "$bench" help gemvv
expect 2 "unknown command 'gemx'; commands are run, " "$bench" gemx
expect 2 "unknown option '--kerenls'; did you mean '--kernels'\\?$" "$bench" --kerenls int2
expect 2 "unknown option '--jsom'; did you mean '--json'\\?$" "$bench" list models --jsom
expect 2 "unknown option '--modells'; did you mean '--models'\\?$" "$bench" gemv --modells=x
expect 2 "unknown model 'falcon3-1c'; did you mean 'falcon3-1b'\\?$" "$bench" decode --model falcon3-1c
expect 2 "unknown model 'falcon3-1c'; did you mean 'falcon3-1b'\\?$" "$bench" gemv --models llama3-8b,falcon3-1c
expect 2 "unknown format 'tern22'; did you mean 'tern2'\\?$" "$bench" gamma --formats int8,tern22
expect 2 "no kernel matches 'int2a8-msk'; did you mean 'int2a8-mask'\\?$" "$bench" verify --kernels int2a8-msk
expect 2 "no kernel of int4 matches 'int2a8-mask'; did you mean 'int4a8-mask'\\?$" "$bench" gamma --kernels int2a8-mask --formats int4
expect 2 "no kernel matches 'int2a8-msk'; did you mean 'int2a8-mask'\\?$" "$bench" list kernels --kernels int2a8-msk
expect 2 "no kernel matches 'int2a8-msk'; did you mean 'int2a8-mask'\\?$" "$bench" gamma --explain int2a8-msk
# Options that a command has no use for.
for line in "beta --models falcon3-1b" "beta --kernels int2" "gamma --warm" "gamma --split static" "formats --shapes 64x64" \
    "verify --out x" "verify --quick" "verify --platform lnl" "decode --aa" "beta --resume x"; do
    # shellcheck disable=SC2086
    expect 2 "wrong or incomplete option near '--[a-z-]+'; try 'ulb-bench [a-z]+ --help'" "$bench" $line
done
expect 2 "no kernel matches 'int7'.*list kernels" "$bench" gamma --kernels int7
expect 2 "no regular expression" "$bench" gamma --kernels '['
expect 2 "no kernel matches 'int7'.*list kernels" "$bench" gamma --explain int1a8-table,int7
expect 2 "no regular expression" "$bench" gamma --explain '['
expect 2 "names no kernel" "$bench" gamma --explain ,
expect 2 "kernels is empty and would match everything" "$bench" list kernels -k ''
expect 2 "leave out --kernels" "$bench" gamma --explain int1 --formats int1
expect 2 "writes no record" "$bench" gamma --explain int1 --out x
expect 2 "use 'ulb-bench model'" "$bench" gamma --explain int1 --platform lnl
expect 2 "surplus" "$bench" gamma --explain int1 surplus
expect 2 "--n needs --explain KERNEL" "$bench" gamma --n 4
expect 2 "'x' is no number of tokens: 1 to 4096" "$bench" gamma --explain int1a8-table --n 4,x
expect 2 "unknown model 'gpt-9'.*list models" "$bench" gemv --models falcon3-1b,gpt-9
expect 2 "no model" "$bench" gemv --models ''
expect 2 "'4096' is no shape: MxK" "$bench" gemv --shapes 64x64,4096
expect 2 "'0x64' is no shape" "$bench" gemv --shapes 0x64
expect 2 "'64x64x2' is no shape" "$bench" gemv --shapes 64x64x2
expect 2 "'64x-1' is no shape" "$bench" gemv --shapes 64x-1
expect 2 "'99999999x64' is no shape.*16777216" "$bench" gemv --shapes 99999999x64
expect 2 "names no shape" "$bench" gemv --shapes ''
expect 2 "names no shape" "$bench" gemv --shapes ,
expect 2 "shape '064x64' is named twice" "$bench" gemv --shapes 64x64,,96x64,064x64
expect 2 "number of tokens '4' is named twice" "$bench" gemm --n 4,16,4
# No list takes a word twice.
expect 2 "format 'int8' is named twice" "$bench" gamma --formats int8,int4,int8
expect 2 "format 'int8' is named twice" "$bench" decode --model bitnet-125m --formats int8,int4,int8 --ring-mib 128
expect 2 "format 'int2' is named twice" "$bench" simulate --formats int2,int2
expect 2 "instruction-set bit 'avx512f' is named twice" "$bench" gamma --isa-mask avx512f,avx2,avx512f
expect 2 "kernel 'int1a8-table' is named twice" "$bench" gamma --explain int1a8-table,int1a8-blend,int1a8-table
expect 2 "library of kernels 'x.so' is named twice" "$bench" list kernels --kernel-library x.so,x.so
expect 2 "format 'png' is named twice" "$bench" history trend --out . --format png,svg,png
expect 2 "model 'falcon3-1b' is named twice" "$bench" gemv --models falcon3-1b,falcon3-1b
expect 2 "--split 'static'.*each at most once" "$bench" decode --split static,dynamic,static
expect 2 "none of the shapes is whole blocks of q4_k .256 columns" "$bench" gemv --shapes 64x896 --formats q4_k
expect 2 "has 300 characters and 248 are kept" "$bench" beta --set "$(printf '%0300d' 0)"
expect 2 "'0' is no number of tokens: 1 to 4096" "$bench" gemm --n 4,0
expect 2 "'4097' is no number of tokens" "$bench" gemm --n 4097
expect 2 "'2x' is no number of tokens" "$bench" gemm --n 2x
expect 2 "names no number of tokens" "$bench" gemm --n ''
expect 2 "wrong or incomplete option near .*gemv --help" "$bench" gemv --n 4
expect 2 "no shape" "$bench" gemm --shapes 4096
expect 2 "unknown model 'gpt-9'.*list models" "$bench" decode --model gpt-9
expect 2 "deepseek-v3 has latent attention" "$bench" decode --model deepseek-v3
expect 2 "--threads and --set both name cores" "$bench" decode --threads each --set "$pu"
expect 2 "unknown format 'int9'.*list formats" "$bench" decode --model bitnet-125m --formats int9 --ring-mib 128
expect 2 "one model with --model" "$bench" decode --models falcon3-1b
expect 2 "one model with --model" "$bench" decode -m falcon3-1b
expect 2 "tokens.*1 to 65536" "$bench" decode --tokens 0
expect 2 "context" "$bench" decode --context -1
expect 2 "auto, all or 1 to 10000" "$bench" decode --layers some
expect 2 "positive numbers" "$bench" decode --split-shares 3,0
expect 2 "THREAD:TIMES" "$bench" decode --slow-thread 1
# An old name of an option is taken, and one note says what it is called.
status=0
"$bench" decode --model bitnet-125m --weights int8 --weights int9 --ring-mib 128 --split-weights 1 --set "$pu" >out 2>err || status=$?
[[ $status == 2 && $(sed 's/ulb-bench: .*int9.*/refused/' err) == 'note: --weights is an old name of --formats
note: --split-weights is an old name of --split-shares
refused' ]] || fail "exit $status, old names: $(cat err)"
expect 2 "nosuch.json" "$bench" decode --record nosuch.json
expect 2 "nosuch.json" "$bench" decode --import nosuch.json
expect 2 "unknown format 'int9'.*list formats" "$bench" gamma --formats int8,int9
expect 2 "formats names no format.*list formats" "$bench" gamma --formats ,
expect 2 "kernels names no kernel.*list kernels" "$bench" gamma --formats int2 --kernels ''
expect 2 "no kernel of int8,int4 matches 'int2'.*list kernels" "$bench" gamma --formats int8,int4 --kernels int2
# An empty word is none.
expect 2 "no kernel of ,int8,,int4, matches 'int2'.*list kernels" "$bench" gamma --formats ,int8,,int4, --kernels int2
expect 2 "no kernel of int8 matches 'int2'.*list kernels" "$bench" decode --model bitnet-125m --formats int8 \
    --kernels int2
expect 2 "names thread 9, and the last one is 0" "$bench" decode --model bitnet-125m --formats int8 --set "$pu" --slow-thread 9:2
expect 2 "names no shape" "$bench" simulate --shapes ,
expect 2 "instruction-set bit 'avx9000'.*avx2" "$bench" gamma --isa-mask avx2,avx9000
expect 2 "split.*static, dynamic or weighted" "$bench" gemv --split sideways
expect 2 "seed" "$bench" gemv --seed -1
expect 2 "below 2.63" "$bench" gemv --seed 9223372036854775808
expect 2 "--layers 12: bitnet-125m has 11" "$bench" decode --model bitnet-125m --layers 12
expect 2 "--prompt 20 is more than --context 5" "$bench" decode --prompt 20 --context 5
expect 2 "takes one split here, not 2" "$bench" gemv --split static,dynamic
expect 2 "ring-mib" "$bench" beta --ring-mib 0
expect 2 "progress" "$bench" beta --progress maybe
expect 2 "set|class|PU" "$bench" beta --set Q
expect 2 "100000" "$bench" beta --set 100000
expect 2 "arl.*lnl" "$bench" model --platform nosuch
expect 2 "arl.*lnl" "$bench" --platform nosuch
expect 2 "^ulb-bench: --formats has no effect with another" "$bench" --platform lnl --formats int1
expect 2 "use 'ulb-bench model'" "$bench" beta --platform lnl

# A fast kernel that cannot run is an error, never a silent fall-back.
mkdir broken && : >broken/liblikwid.so.5
expect 3 "marker API cannot be loaded.*install LIKWID 5" env LD_LIBRARY_PATH=broken LIKWID_MODE=1 LIKWID_FILEPATH=x \
    LIKWID_EVENTS=CLOCK LIKWID_THREADS=0 "$bench" gamma --kernels int2a8-pshufb-avx2
expect 3 "cannot run here: missing .*avx2" "$bench" gamma --kernels 'int2a8-.*-avx2' --isa-mask avx2
expect 3 "^ulb-bench: kernel [a-z0-9]+-[a-z]+-avx2-[0-9x]+ and [0-9]+ more cannot run here: missing avx2; --kernels '-ref-'" \
    "$bench" gamma --isa-mask avx2

# Platform files.
echo '{"name": "x", "classes": [' >cut.json
expect 2 "cut.json.*line" "$bench" model --platform cut.json
echo '{"name": "x"}' >empty.json
expect 2 "empty.json" "$bench" model --platform empty.json
expect 2 "nosuch.json" "$bench" model --platform ./nosuch.json

# Records.
expect 2 "nosuch.json" "$bench" plot nosuch.json
head -c 100 /dev/urandom >noise.json
expect 2 "noise.json" "$bench" plot noise.json
expect 2 "no record is named.*report.html" "$bench" report
expect 2 "nosuch.json" "$bench" report nosuch.json
expect 2 "noise.json" "$bench" report noise.json
expect 2 "figure 'bars' is named twice" "$bench" plot "$ULB_SOURCE/results/baselines/counts-gnu-12.2.0.json" --figure bars,bars
expect 2 "surplus|wrong or incomplete" "$bench" report --figure bars noise.json
record=$ULB_SOURCE/results/baselines/counts-gnu-12.2.0.json
python3 -c "import json, sys; r = json.load(open(sys.argv[1])); r['build']['commit'] = None; json.dump(r, open('record.json', 'w'))" "$record"
cp record.json kept.json
ln -s record.json link.json
for out in record.json link.json; do
    expect 2 "is one of the records" "$bench" report record.json -o $out
done
expect 2 "--out record.json is a record" "$bench" report "$record" -o record.json
cmp -s kept.json record.json || fail "a record was overwritten"
ln -s nowhere dangling.html
expect 2 "dangling.html is a link to a file that is not there" "$bench" report record.json -o dangling.html
expect 2 "record.json has nothing to draw" "$bench" plot record.json
expect 2 "record.json: the record has no decode runs" "$bench" plot --figure tokens record.json
mkdir other
cp record.json other
expect 2 "the figures of record.json and other/record.json would have the same names" "$bench" plot record.json \
    other/record.json --out figures
expect 2 "noise.json" "$bench" plot noise.json --out figures
expect 2 "noise.json" "$bench" model --platform lnl --record noise.json --out figures
expect 2 "no kernel matches" "$bench" --quick --kernels int7 --out figures
[[ ! -e figures ]] || fail "a folder was made for nothing"
mkdir own
expect 2 "noise.json" "$bench" plot noise.json --out own
[[ -d own ]] || fail "a folder that was there was removed"
expect 3 "page.html.*File too large" bash -c "ulimit -f 1; '$bench' report record.json -o page.html"
[[ ! -e page.html ]] || fail "half a page was written"

expect 2 "name a record and a format" "$bench" export noise.json
expect 2 "unknown export format 'xml'; formats are csv, .*bmf" "$bench" export noise.json --to xml
expect 2 "noise.json" "$bench" export noise.json --to csv
expect 2 "--section goes with csv; md holds" "$bench" export "$record" --to md --section peak
expect 2 "--summary goes with every format but sql" "$bench" export "$record" --to sql --summary
expect 2 "leave out --section peak" "$bench" export "$record" --to csv --section peak --summary
expect 2 "nosuch.json" "$bench" export nosuch.json --to csv

# What a record does not hold, and models that do not fit.
for file in nosuch.json noise.json; do
    expect 2 "^ulb-bench: $file" "$bench" advise llama3-8b --record $file
    expect 2 "^ulb-bench: $file" "$bench" show $file
done
expect 2 "name a record; try 'ulb-bench show RECORD'" "$bench" show
expect 2 "record.json: the record has no products of one token; make one with 'ulb-bench run'" "$bench" advise llama3-8b \
    --record record.json
for section in cells overlap decode; do
    expect 2 "record.json has no $section; 'ulb-bench show' without --section tells" "$bench" show record.json --section $section
done
"$bench" show record.json >out && grep -qx 'Memory   not measured' out || fail "a record without figures: $(cat out)"
expect 3 "no format of --formats can run bitnet-125m: no kernel of q4_0 can run here .missing .*avx2" "$bench" decode \
    --model bitnet-125m --formats q4_0 --ring-mib 64 --isa-mask avx2
expect 3 "not enough memory: 80 layers of gopher-280b in fp32 need [0-9.]+ GiB and .* take --layers auto" "$bench" decode --quick \
    --model gopher-280b --layers all --formats fp32 --ring-mib 128

# Output that cannot be written: said before anything is measured.
expect 3 "/proc/nowhere.*--out" "$bench" --quick --out /proc/nowhere
expect 2 "--out names no folder" "$bench" --quick --out ''
expect 3 "standard output" bash -c "'$bench' list kernels --json >/dev/full"
expect 3 "standard output" bash -c "'$bench' list kernels >/dev/full"
expect 3 "standard output" bash -c "'$bench' --help >/dev/full"
expect 3 "standard output.*Bad file descriptor" bash -c "'$bench' export '$record' --to sql >&-"

expect 3 "/proc/nowhere.*--out" "$bench" plot noise.json --out /proc/nowhere
expect 3 "/proc/nowhere.*--db" "$bench" history add noise.json --db /proc/nowhere/h.db

# Models whose sizes are each possible and together are not.
model() { # KEY VALUE...: a config.json of Llama's or Mixtral's, with these numbers
    python3 - "$@" <<'P'
import json, sys
config = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
          "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000, "tie_word_embeddings": False}
config.update(zip(sys.argv[1::2], map(int, sys.argv[2::2])))
if "num_local_experts" in config:
    config["model_type"] = "mixtral"
json.dump(config, open("model.json", "w"))
P
}
model num_hidden_layers 65536 num_local_experts 65536 num_experts_per_tok 2
expect 2 "65536 layers of 65536 experts are more than 16777216" "$bench" shapes ./model.json
model num_hidden_layers 65536 hidden_size 16777216 intermediate_size 16777216 vocab_size 16777216
expect 2 "1.*e.20 parameters are more than the largest file could hold" "$bench" shapes ./model.json

touch page && chmod +x page
expect 3 "'page' is a file and no folder; choose another with --out" "$bench" beta --out page
expect 2 "'' is no file for a history; name one with --db" "$bench" history add noise.json --db ''
expect 2 "':memory:' is no file" "$bench" history add noise.json --db :memory:
expect 2 "'/tmp' is no file" "$bench" history add noise.json --db /tmp
expect 2 "figures, which are drawn with --out" "$bench" history trend --format png
expect 2 "names no format" "$bench" history trend --out . --format ,
expect 2 "is not UTF-8, which JSON and XML need" "$bench" compare noise.json $'noise\xff.json' --junit
expect 2 "--cell is no option of 'history list'; those that take it: trend bisect" "$bench" history list --cell int8
expect 2 "--format is no option of 'history add'; those that take it: trend" "$bench" history add noise.json --format png
expect 2 "--repo is no option of 'history trend'" "$bench" history trend --repo .
expect 2 "unknown action 'sum': add, list, trend or bisect" "$bench" history sum
expect 2 "--repo '.': git failed: not a git repository" env GIT_CEILING_DIRECTORIES="$PWD" "$bench" history add record.json --repo .

# Of several files the refused ones are named, each in a line, and the others added.
sed 's/"schema_version": *[0-9]*/"schema_version": 99/' record.json >newer.json
expect 2 "noise.json" "$bench" history add noise.json record.json --db mixed.db
grep -qx 'mixed.db: 1 record added, 1 refused' out || fail "history add of a record and of another file: $(cat out)"
expect 3 "newer.json: .*update it" "$bench" history add newer.json record.json --db mixed.db
status=0
"$bench" history add newer.json noise.json record.json nosuch.json --db mixed.db --json >out 2>err || status=$?
python3 -c 'import json; d = json.load(open("out"))
assert d == {"db": "mixed.db", "added": 0, "known": 1, "refused": 3}, d' || fail "history add says: $(cat out)"
[[ $status == 2 && $(grep -c '^ulb-bench: [a-z]*.json' err) == 3 && $(wc -l <err) == 3 ]] ||
    fail "exit $status of history add: $(cat err)"
expect 3 "standard output" bash -c "'$bench' history add record.json --db mixed.db >/dev/full"
expect 2 "cell is empty and would match everything" "$bench" history trend --db mixed.db -c ''
expect 2 "cell is empty and would match everything" "$bench" history bisect --db mixed.db -c ''

expect 2 "is not UTF-8, which JSON and XML need" "$bench" history list --db $'h\xff.db' --json
for option in "--set P" "--quick" "--isa-mask avx2"; do
    # shellcheck disable=SC2086
    expect 2 "has no effect with --record, which measures nothing" "$bench" run --platform lnl --record noise.json $option
done

# Too little memory.
expect 3 "memory" bash -c "ulimit -v 65536; '$bench' --quick --out '$scratch'"
expect 3 "memory.*--ring-mib" bash -c "ulimit -v 1500000; '$bench' beta --quick --ring-mib 2048"
expect 3 "not enough memory: [0-9]+ MiB are needed" \
    bash -c "ulimit -v 3000000; '$bench' gemv --ring-mib 64 --formats int1 --shapes 1048576x4096"
# A small stack is enlarged where that is allowed.
(ulimit -S -s 64; "$bench" gemv --quick --ring-mib 64 --formats int1 --shapes 512x512 >out 2>err) ||
    fail "with a stack of 64 KiB: $(cat err)"
expect 3 "the stack may have 64 KiB and kernels need 2048; raise ulimit -s" bash -c "ulimit -s 64; '$bench' list kernels"

echo "bad input: all as documented"
