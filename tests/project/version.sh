#!/usr/bin/env bash
# The version and the commit of sources: by tags, after them, before the first, without a repository, from a source tarball.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need git
cat >"$scratch/print.cmake" <<END
include($ULB_SOURCE/cmake/version.cmake)
ulb_version(\${ROOT} 9.9.9 version commit)
message("\${version} \${commit}")
END
is() { # FOLDER PATTERN: "VERSION COMMIT"
    local got
    got=$(cmake -DROOT="$1" -P "$scratch/print.cmake" 2>&1)
    [[ $got =~ ^$2$ ]] || fail "the version and commit of $1 are '$got', not '$2'"
}
git() { command git -c user.name=test -c user.email=test@example.org -C "$scratch/repository" "$@" >>"$scratch/log" 2>&1; }

hash='([0-9a-f]{12})'
mkdir -p "$scratch/repository/cmake"
cp "$ULB_SOURCE/.gitattributes" "$scratch/repository/"
cp "$ULB_SOURCE/cmake/archive.txt" "$scratch/repository/cmake/"
is "$scratch/repository" '9\.9\.9 unknown'
git init
git add .
git commit -m first
is "$scratch/repository" "9\.9\.9~g$hash $hash"
git tag -a v1.2.3 -m release
is "$scratch/repository" "1\.2\.3 $hash"
touch "$scratch/repository/more"
git add more
is "$scratch/repository" "1\.2\.3\+0\.g$hash\.dirty $hash-dirty"
git commit -m second
is "$scratch/repository" "1\.2\.3\+1\.g$hash $hash"

for commit in v1.2.3 HEAD; do
    mkdir "$scratch/$commit"
    git archive -o "$scratch/$commit.tar" "$commit"
    tar -xf "$scratch/$commit.tar" -C "$scratch/$commit"
done
is "$scratch/v1.2.3" "1\.2\.3 $hash"
is "$scratch/HEAD" "1\.2\.3\+1\.g[0-9a-f]+ $hash"
