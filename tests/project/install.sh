#!/usr/bin/env bash
# The installed program works from any folder and needs nothing of the source tree; its papers lie beside it.
# shellcheck source=tests/project/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
DESTDIR='' cmake --install "$ULB_BUILD" --prefix "$scratch/prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cd /
installed=$scratch/prefix/bin/ulb-bench
[[ $("$installed" --version) == 'ulb-bench '[0-9]* ]] || fail "--version"
"$installed" list models | grep llama3-8b >/dev/null || fail "list models"
"$installed" list platforms | grep lnl >/dev/null || fail "list platforms"
"$installed" model --platform lnl >/dev/null || fail "model --platform lnl"
if strings "$installed" 2>/dev/null | grep -F "$ULB_SOURCE"; then fail "the binary names the source folder"; fi
cd "$scratch/prefix/share"
for file in man/man1/ulb-bench.1 bash-completion/completions/ulb-bench zsh/site-functions/_ulb-bench \
    fish/vendor_completions.d/ulb-bench.fish ulb-bench/schema.json ulb-bench/cores.json doc/ulb-bench/LICENSE; do
    [[ -s $file ]] || fail "$file is not installed"
done
grep -q 'BSD 3-Clause' doc/ulb-bench/LICENSE || fail "the licence is another one"
bash -n bash-completion/completions/ulb-bench

# Links from one file of the documentation to another, as [text](FILE) or [text](FILE#PLACE).
links=0
while IFS=: read -r file link; do
    target=${link%%#*}
    [[ -e $(dirname "$file")/$target ]] || fail "$file links to $target, which is not installed"
    links=$((links + 1))
done < <(grep -oRE --include='*.md' '\]\([^)]*\)' doc/ulb-bench | sed -E 's/\]\((.*)\)/\1/' | grep -vE ':(https?:|#)')
((links > 10)) || fail "only $links links in the installed documentation"

# The example of a plug-in is built with nothing but the installed headers, by way of one of them, and loads.
include=$scratch/prefix/include/ulb-bench
for header in "$include"/kernels/formats/*/format.h; do
    grep -qxF "#include \"${header#"$include/"}\"" "$include/kernels/plugin.h" || fail "kernels/plugin.h lacks ${header#"$include/"}"
done
grep '^#include "' doc/ulb-bench/examples/plugin_kernel.c >"$scratch/included"
[[ $(cat "$scratch/included") == '#include "kernels/plugin.h"' ]] || fail "the example includes more: $(cat "$scratch/included")"
cc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC -I"$include" doc/ulb-bench/examples/plugin_kernel.c -o "$scratch/mine.so"
"$installed" list kernels --kernel-library "$scratch/mine.so" --kernels mine | grep mine >/dev/null || fail "the example does not load"
find "$include" -name '*.h' -printf '%P\n' >"$scratch/headers"
while IFS=: read -r file header; do
    grep -qxF "$header" "$scratch/headers" || fail "$file includes $header, which is not installed"
done < <(cd "$include" && grep -RoE '^# *include "[^"]+"' . | sed -E 's/# *include "(.*)"/\1/')
