#!/usr/bin/env bash
# What cpack makes: the tarball runs where it is unpacked and needs no library but glibc's, libudev and libsmartcols; the .deb says so.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
pack() { # GENERATOR
    cpack --config "$ULB_BUILD/CPackConfig.cmake" -G "$1" -B "$scratch/$1" >"$scratch/log" 2>&1 && return
    grep -hE 'packages need|cpack -G DEB needs' "$scratch/log" && exit 77
    tail -5 "$scratch/log"
    fail "cpack -G $1"
}

pack TGZ
tar -xzf "$scratch"/TGZ/ulb-bench-*.tar.gz -C "$scratch"
unpacked=$(compgen -G "$scratch/ulb-bench-*-linux-*")
program=$unpacked/bin/ulb-bench
version=$("$program" --version)
[[ $unpacked == */ulb-bench-"${version#ulb-bench }"-linux-* ]] || fail "the folder is $unpacked, the program $version"
needed=$(readelf -d "$program" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | grep -vE '^(lib(c|m|udev|smartcols|pthread|dl|rt)|ld-linux.*)\.so\.[0-9]+$' || true)
[[ ! $needed ]] || fail "the packed program needs ${needed//$'\n'/, }"
! readelf -Ws --dyn-syms "$program" | grep -E ' DEFAULT +[0-9]+ (hwloc|json|sqlite3|PAPI|GOMP|omp)_' ||
    fail "plug-ins see the program's own copy of a library"
cc -O2 -shared -fPIC -I"$unpacked/include/ulb-bench" "$unpacked/share/doc/ulb-bench/examples/plugin_kernel.c" -o "$scratch/mine.so"
"$program" verify --kernel-library "$scratch/mine.so" --kernels mine >"$scratch/out" || fail "verify: $(tail -3 "$scratch/out")"

pack DEB
package=$(compgen -G "$scratch/DEB/*.deb")
depends=$(dpkg-deb -f "$package" Depends)
[[ $depends == *'libc6 (>= '*')'* && ! $depends =~ (hwloc|jansson|gomp|papi|sqlite) ]] || fail "the .deb depends on $depends"
dpkg-deb -c "$package" >"$scratch/files"
for file in doc/ulb-bench/{copyright,changelog.gz,changelog.Debian.gz} man/man1/ulb-bench.1.gz zsh/vendor-completions/_ulb-bench; do
    grep -q "/usr/share/$file$" "$scratch/files" || fail "the .deb has no $file"
done
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$package" || fail "lintian finds errors"
fi
