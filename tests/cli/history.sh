#!/usr/bin/env bash
# ulb-bench history: a slowdown injected into made-up records is found between the commits where it was injected.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../project/lib.sh"
need git
need sqlite3
cd "$scratch"
export COLUMNS=100
history=("$bench" history)
if ! "${history[@]}" list --db none.db 2>err && grep -q 'has no SQLite' err; then
    echo "skipped: $(cat err)"
    exit 77
fi

# Twenty commits, one day apart. Each even one was measured; from the thirteenth on one kernel is 9 % slower.
git init -q repo
git init -q another
for i in $(seq 20); do
    day=$(printf '2026-03-%02dT12:00:00Z' "$i")
    GIT_AUTHOR_DATE=$day GIT_COMMITTER_DATE=$day git -C repo -c user.name=t -c user.email=t@example.org \
        commit -q --allow-empty -m "$i"
    git -C repo rev-parse --short=12 HEAD
done >commits
mkdir samples records
"$ULB_BUILD/tests/results/sample_record" samples
cat >measure.py <<'P'
"""measure.py NUMBER...: the records of these commits, as if measured one after the other."""
import json, random, sys, time
commits = open("commits").read().split()
for number in map(int, sys.argv[1:]):
    record, random_ = json.load(open("samples/0.json")), random.Random(number)
    record["created"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1800000000 + len(sys.argv) * 1000 + number))
    record["build"]["commit"] = commits[number - 1]
    for cell in record["cells"]:
        slow = number >= 13 and cell["kernel"].startswith("int2a8-pshufb-avx2-")
        cell["efficiency"] *= (0.91 if slow else 1) * random_.gauss(1, 0.008)
    for count in record["counts"]:
        if count["instructions_per_step"] and number >= 9 and count["format"] == "bf16":
            count["instructions_per_step"] += 0.25
    json.dump(record, open(f"records/{number:02}.json", "w"))
P
python3 measure.py $(seq 2 2 20)

"${history[@]}" add records/*.json --repo repo >out || fail "add"
grep -qx 'ulb-results/history.db: 10 records added' out || fail "add says: $(cat out)"
"${history[@]}" add records/04.json --repo repo --json >out
python3 -c 'import json; d = json.load(open("out")); assert d == {"db": "ulb-results/history.db", "added": 0, "known": 1, "refused": 0}, d' ||
    fail "add again"
"${history[@]}" list --json >out
python3 -c 'import json; r = json.load(open("out"))["records"]
assert [x["committed"] for x in r] == [f"2026-03-{d:02}T12:00:00Z" for d in range(2, 21, 2)], r' || fail "list"
"${history[@]}" add records/04.json --repo another --db elsewhere.db >out && "${history[@]}" list --db elsewhere.db --json >out
python3 -c 'import json; r = json.load(open("out"))["records"][0]
assert r["committed"] is None and "git did not know" in r["committed_reason"] and "commit_reason" not in r, r' ||
    fail "a commit that git does not know"
"${history[@]}" list >out
awk 'length > 100 { print; bad = 1 } END { exit bad }' out || fail "a line of the list is over 100 columns"
[[ $(wc -l <out) == 11 && $("${history[@]}" list --last 3 | wc -l) == 4 ]] || fail "the list: $(cat out)"

# Trend: twelve shapes of the kernel changed, at the right place; nothing else did.
"${history[@]}" trend --json >trend.json || fail "trend"
python3 - <<'P' || fail "trend"
import json
commits = open("commits").read().split()
series = json.load(open("trend.json"))["series"]
changed = [s for s in series if s["changes"]]
assert len(series) == 108 and len(changed) == 12, (len(series), len(changed))
for s in changed:
    assert s["key"].startswith("int2a8-pshufb-avx2-") and len(s["points"]) == 10 and len(s["levels"]) == 2
    (change,) = s["changes"]
    assert (change["before_commit"], change["after_commit"]) == (commits[11], commits[13]), change
    assert abs(change["ratio"] - 0.91) < 0.02 and change["verdict"] == "regressed", change
P
"${history[@]}" trend --cell 'int2a8-pshufb-avx2-.*llama3-8b/down' >out || fail "trend"
grep -qE '^ +-[89]\.[0-9] %, regressed, between [0-9a-f]{12} and [0-9a-f]{12} \(' out || fail "trend says: $(cat out)"
awk 'length > 100 { print; bad = 1 } END { exit bad }' out || fail "a line of the trend is over 100 columns"
"${history[@]}" trend >out
[[ $(head -1 out) == 'efficiency: 108 series of 10 records, 12 changed' ]] && grep -q '12 cells, median -[89]' out &&
    [[ $(wc -l <out) -le 20 ]] || fail "the summary of the trend: $(cat out)"
"${history[@]}" add records/0[24].json --repo repo --db two.db >out && "${history[@]}" trend --db two.db >out
[[ $(wc -l <out) -le 20 ]] && grep -q '^too few records' out && grep -q 'not judged: median' out || fail "two records: $(cat out)"
awk 'length > 100 { print; bad = 1 } END { exit bad }' out || fail "a line of the summary is over 100 columns"
"${history[@]}" trend -v >out
awk 'length > 100 { print; bad = 1 } END { exit bad }' out || fail "a line of the trend is over 100 columns"
grep -q '^    [0-9]* records, .* efficiency [0-9.]* now' out || fail "trend says: $(head -2 out)"
"${history[@]}" trend --threshold 15% --json >out
python3 -c 'import json; assert not any(s["changes"] for s in json.load(open("out"))["series"])' || fail "--threshold"

# Counts have no noise: one record of another count is a change.
"${history[@]}" trend --metric instructions --json --last 5 >out
python3 - <<'P' || fail "instructions"
import json
commits = open("commits").read().split()
series = {s["key"]: s for s in json.load(open("out"))["series"]}
assert not series["int2a8-pshufb-avx2-32x1x4 callgrind"]["changes"]
assert len(series["bf16f32-fma-avx2-32x1x2 callgrind"]["points"]) == 5
P
"${history[@]}" trend --metric instructions --cell bf16 --json >out
python3 - <<'P' || fail "instructions"
import json
commits = open("commits").read().split()
(change,) = json.load(open("out"))["series"][0]["changes"]
assert (change["before_commit"], change["after_commit"], change["verdict"]) == (commits[7], commits[9], "regressed")
P

# The figure of a cell names the commits of its change.
if command -v gnuplot >/dev/null; then
    "${history[@]}" trend --cell 'int2a8-pshufb-avx2-.*llama3-8b/down' --out figures --format svg,png --json >out || fail "figures"
    python3 - <<'P' || fail "figures"
import json, os
commits = open("commits").read().split()
(series,) = json.load(open("out"))["series"]
svg, png = series["figures"]
assert os.path.getsize(png) > 1000 and open(png, "rb").read(4) == b"\x89PNG"
text = open(svg).read()
assert commits[11] in text and commits[13] in text and "llama3-8b/down" in text and "median of a level" in text
document = dict(series)
json.dump(document, open("one.json", "w"))
P
    "$bench" plot one.json --format svg -o figures >out || fail "plot of a trend"
    [[ $(cat out) == figures/one-trend.svg ]] || fail "plot of a trend: $(cat out)"
fi

# Bisect: one commit lies between; once it is measured, though late, none does.
bisect() {
    "${history[@]}" bisect --repo repo --json >out || fail "bisect"
    python3 - "$@" <<'P'
import json, subprocess, sys
commits = open("commits").read().split()
good, bad, between, following = sys.argv[1:]
(span,) = json.load(open("out"))["spans"]
assert (span["good"], span["bad"]) == (commits[int(good) - 1], commits[int(bad) - 1]), span
assert span["commits"] == int(between) and len(span["cells"]) == 12, span
assert (span["next"] or "none").startswith(commits[int(following) - 1] if following != "none" else "none"), span
P
}
bisect 12 14 2 13 || fail "bisect"
"${history[@]}" bisect --repo repo >out
grep -qE '^between [0-9a-f]{12} \(.*12 cells, median -[89]' out || fail "bisect says: $(cat out)"
grep -qE '^ +2 commits; measure [0-9a-f]{12} next: git checkout' out || fail "bisect says: $(cat out)"
python3 measure.py 13
"${history[@]}" add records/13.json --repo repo >out
bisect 12 13 1 none || fail "bisect after one more record"
"${history[@]}" bisect --repo another --json >out
python3 -c 'import json; s = json.load(open("out"))["spans"][0]; assert s["next"] is None and "git" in s["next_reason"]' ||
    fail "bisect without a repository"

# Records without a commit: each null with its reason, and changes of different times are no one change.
mkdir nameless
python3 - <<'P'
import json
for number in range(16):
    record = json.load(open(f"records/{2 + 2 * (number % 4):02}.json"))
    record["created"] = f"2027-01-{number + 1:02}T00:00:00Z"
    del record["build"]["commit"]
    for count in record["counts"]:
        start = {"bf16": 4, "int1": 9}.get(count["format"], 99)
        if count["instructions_per_step"] and number >= start:
            count["instructions_per_step"] += 0.25
    json.dump(record, open(f"nameless/{number:02}.json", "w"))
P
"${history[@]}" add nameless/*.json --db nameless.db >out || fail "records without a commit"
for action in "list" "trend" "trend --metric instructions" "bisect --metric instructions"; do
    # shellcheck disable=SC2086
    "${history[@]}" $action --db nameless.db --json >"nameless-${action// /}.json" || fail "$action without commits"
done
python3 - <<'P' || fail "nulls without a commit"
import glob, json
def check(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            assert inner is not None or value[key + "_reason"], value
            check(inner)
    elif isinstance(value, list):
        for inner in value:
            check(inner)
documents = [json.load(open(name)) for name in glob.glob("nameless-*.json")]
assert len(documents) == 4 and all("null" in json.dumps(d) for d in documents)
for document in documents:
    check(document)
spans = json.load(open("nameless-bisect--metricinstructions.json"))["spans"]
assert [span["bad_created"][:10] for span in spans] == ["2027-01-05", "2027-01-10"], spans
P

expect() { # CODE PATTERN ARGUMENTS
    local status=0
    "${history[@]}" "${@:3}" >out 2>err || status=$?
    [[ $status == "$1" && $(wc -l <err) == 1 ]] && grep -qE -- "$2" err || fail "exit $status of ${*:3}: $(cat err)"
}
expect 2 "add, list, trend or bisect"
expect 2 "add, list, trend or bisect" forget
expect 2 "name the records" add
expect 2 "takes no records" list records/02.json
expect 2 "none.db: No such file" trend --db none.db
expect 2 "records/99.json" add records/99.json
expect 2 "another program's|no history" trend --db samples/0.json
expect 2 "no regular expression" trend --cell '['
expect 2 "holds no gamma of a cell that matches int7" trend --metric gamma --cell int7
expect 2 "unknown metric 'speed'; metrics are efficiency" trend --metric speed
expect 2 "--metric 'tps': a history keeps efficiency, us, gamma and" trend --metric tps
expect 2 "--last 'x'" trend --last x
expect 2 "--threshold '-1'" trend --threshold=-1
expect 2 "unknown format 'bmp'" trend --cell llama3-8b/down --out figures --format bmp
touch records/02.journal
expect 2 "records/02.json: its run is not finished; go on with it by --resume" add records/02.json
rm records/02.journal
expect 3 "/proc/nowhere" add records/02.json --db /proc/nowhere/history.db

# A history that may be read alone, of another user or on a mount that is read-only: it is read as it is.
mkdir locked
sqlite3 ulb-results/history.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cp ulb-results/history.db whole.db
cp whole.db locked/h.db
reader=()
[[ $(id -u) != 0 ]] || { command -v setpriv >/dev/null && reader=(setpriv --reuid=65534 --clear-groups); }
if [[ $(id -u) != 0 || ${#reader[@]} -gt 0 ]] && "${reader[@]}" "$bench" --version >/dev/null 2>&1; then
    "$bench" history list --db locked/h.db >whole
    rm -f locked/h.db-*
    chmod 444 locked/h.db
    chmod 555 locked
    chmod 755 .
    "${reader[@]}" "$bench" history list --db "$PWD/locked/h.db" >out 2>err || fail "a history to be read alone: $(cat err)"
    cmp -s out whole || fail "a history to be read alone differs: $(diff out whole | head -5)"
    "${reader[@]}" "$bench" history trend --db "$PWD/locked/h.db" >/dev/null 2>err || fail "its trend: $(cat err)"
    chmod 755 locked
    # A link leads to the file beside which the journal would lie.
    ln -s locked/h.db link.db
    "${reader[@]}" "$bench" history list --db "$PWD/link.db" >out 2>err || fail "a link to a history: $(cat err)"
    # With a log beside it that is not in it yet it cannot be read where nothing may be written.
    mkdir logged kept
    cp whole.db logged/open.db
    sqlite3 logged/open.db 'PRAGMA journal_mode = WAL; CREATE TABLE mine(x);' \
        '.shell cp logged/open.db logged/open.db-wal kept' >/dev/null
    [[ -s kept/open.db-wal ]] || fail "no log to test with"
    chmod 444 kept/*
    chmod 555 kept
    status=0
    "${reader[@]}" "$bench" history list --db "$PWD/kept/open.db" >out 2>err || status=$?
    [[ $status == 3 && $(wc -l <err) == 1 ]] && grep -q 'its journal beside it.*copy both' err ||
        fail "a log beside it: $status $(cat err)"
    cp -r kept copied
    chmod -R u+w copied kept
    "$bench" history list --db copied/open.db >out
    cmp -s out whole || fail "both copied: $(diff out whole | head -5)"
    chmod 444 whole.db
    status=0
    "${reader[@]}" "$bench" history add records/02.json --db "$PWD/whole.db" >out 2>err || status=$?
    [[ $status == 3 && $(wc -l <err) == 1 ]] && grep -qE 'cannot write in|may not be written here' err ||
        fail "add where nothing may be written: $status $(cat err)"
fi

# Pages that lead to one another by many ways: more rows than a file of this size can hold.
cat >tangle.py <<'P'
"""tangle.py FILE ROOT: the index at page ROOT gets twelve levels of pages with forty ways each to the next."""
import sys
pages, root = bytearray(open(sys.argv[1], "rb").read()), int(sys.argv[2])
size = int.from_bytes(pages[16:18], "big")
first = len(pages) // size + 1
row = bytes([5, 5, 0, 0, 0, 9])
def page(to):
    cell = to.to_bytes(4, "big") + row
    starts = [size - len(cell) * (i + 1) for i in range(40)]
    head = bytes([2, 0, 0]) + len(starts).to_bytes(2, "big") + starts[-1].to_bytes(2, "big") + bytes(1) + to.to_bytes(4, "big")
    head += b"".join(at.to_bytes(2, "big") for at in starts)
    return head + bytes(starts[-1] - len(head)) + cell * len(starts)
leaf = bytes([10, 0, 0, 0, 1]) + (size - len(row)).to_bytes(2, "big") + bytes(1) + (size - len(row)).to_bytes(2, "big")
pages[(root - 1) * size:root * size] = page(first)
for i in range(11):
    pages += page(first + i + 1)
pages += leaf + bytes(size - len(leaf) - len(row)) + row
pages[28:32] = (len(pages) // size).to_bytes(4, "big")
open(sys.argv[1], "wb").write(pages)
P
cp whole.db tangled.db
chmod 644 tangled.db
python3 tangle.py tangled.db "$(sqlite3 tangled.db "SELECT rootpage FROM sqlite_schema WHERE name = 'record_time'")"
for action in list trend bisect; do
    status=0
    timeout 60 "${history[@]}" $action --db tangled.db >out 2>err || status=$?
    [[ $status == 2 && $(wc -l <err) == 1 ]] && grep -q 'it is damaged' err || fail "$action of a tangled file: $status $(cat err)"
done

# git's own reason where it does not know a commit.
note() { # PATTERN FOLDER [COMMAND...]: adding a record with this repository notes that.
    rm -f noted.db
    "${@:3}" "${history[@]}" add records/04.json --db noted.db --repo "$2" >out 2>err || fail "add with $2: $(cat err)"
    [[ $(wc -l <err) == 1 ]] && grep -qE "^note: 1 record placed by the time of measuring.*$1" err || fail "add with $2: $(cat err)"
}
note 'bad object|bad revision|unknown revision' another
git clone -q --depth 1 "file://$PWD/repo" shallow
note "'git fetch --unshallow'" shallow
"${history[@]}" bisect --repo shallow | tr -s ' \n' ' ' >out
grep -q 'commits in between unknown: .*shallow.*git fetch --unshallow' out || fail "bisect of a shallow clone: $(cat out)"
mkdir empty
status=0
env PATH="$PWD/empty" "${history[@]}" bisect --repo repo >out 2>err || status=$?
[[ $status == 2 ]] && grep -q "^ulb-bench: --repo 'repo': git could not be started; install it" err || fail "no git: $status $(cat err)"
if [[ $(id -u) == 0 ]]; then
    cp -r repo foreign
    chown -R 65534 foreign
    status=0
    env GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "${history[@]}" bisect --repo foreign >out 2>err || status=$?
    [[ $status == 2 && $(wc -l <err) == 1 ]] && grep -q 'dubious ownership.*foreign' err && grep -q 'safe.directory' err ||
        fail "a repository of another owner: $(cat err)"
fi

# Nothing that a repository configures is run: a signed commit, and each program that git could be told to run.
cp -r repo hostile
printf '#!/bin/sh\ntouch "%s/marked"\nexit 1\n' "$PWD" >mark
chmod +x mark
signed=$(git -C hostile cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n none\n -----END PGP SIGNATURE-----' |
    git -C hostile hash-object -t commit -w --stdin)
git -C hostile update-ref HEAD "$signed"
for key in gpg.program core.fsmonitor core.pager pager.log pager.rev-list core.sshCommand diff.external \
    remote.origin.uploadpack; do
    git -C hostile config $key "$PWD/mark"
done
git -C hostile config log.showSignature true
git -C hostile config remote.origin.url "$PWD/another"
git -C hostile config remote.origin.promisor true
git -C hostile config core.repositoryFormatVersion 1
git -C hostile config extensions.partialClone origin
git -C hostile log -1 "$signed" >/dev/null 2>&1 || true
[[ -e marked ]] || fail "the repository runs nothing, so that it tests nothing"
rm -f marked
for commit in "$signed" 0123456789abcdef0123456789abcdef01234567; do
    python3 - "$commit" <<'P'
import json, sys
record = json.load(open("records/04.json"))
record["build"]["commit"] = sys.argv[1]
record["created"] = "2026-05-01T00:00:00Z"
json.dump(record, open("hostile.json", "w"))
P
    rm -f hostile.db
    "${history[@]}" add hostile.json --db hostile.db --repo hostile >out 2>&1 || fail "a hostile repository: $(cat out)"
    "${history[@]}" bisect --repo hostile >out 2>&1 || fail "bisect of a hostile repository: $(cat out)"
    [[ ! -e marked ]] || fail "git ran a program that the repository configures"
done

# A history where earlier versions kept it is read there, with a note, until one is beside the records.
mkdir -p earlier/results
cp ulb-results/history.db earlier/results
(cd earlier && "$bench" history list >list 2>note) || fail "an earlier history: $(cat earlier/note)"
"${history[@]}" list >out
cmp -s earlier/list out || fail "an earlier history lists other records"
grep -q '^note: the history is results/history.db.*move it to ulb-results/history.db' earlier/note || fail "says: $(cat earlier/note)"
mkdir earlier/ulb-results
cp ulb-results/history.db earlier/ulb-results
(cd earlier && "$bench" history list >list 2>note) && [[ ! -s earlier/note ]] || fail "two histories: $(cat earlier/note)"
echo "history: changes found where they were injected"
