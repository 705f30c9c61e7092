# shellcheck shell=bash
# Set-up shared by the scripts beside: packages, then the build in build/release.
# Everything it says goes to standard error, so that the output of the command set up stays clean.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=$root/build/release

# What is needed: group, Debian package, and how its presence shows. Packages of the group "optional" are used where
# present; ulb-bench says what is missing without them. Those of "devices" serve tests, which are skipped without them.
requirements='
build     gcc              program gcc
build     libc6-dev        header  stdio.h
build     cmake            program cmake
build     ninja-build      program ninja
build     pkg-config       program pkg-config
build     libhwloc-dev     library hwloc
build     libjansson-dev   library jansson
build     libsmartcols-dev library smartcols
optional  libpapi-dev      library papi
optional  likwid           program likwid-bench
optional  gnuplot-nox      program gnuplot
optional  valgrind         header  valgrind/callgrind.h
optional  libsqlite3-dev   library sqlite3
optional  opencl-c-headers header  CL/cl.h
devices   ocl-icd-libopencl1 loader libOpenCL.so.1
devices   pocl-opencl-icd  file    /etc/OpenCL/vendors/pocl.icd
devices   oclgrind         program oclgrind
test      libcmocka-dev    library cmocka
test      hwloc            program hwloc-annotate
test      clang-format-14  program clang-format-14
test      qemu-user        program qemu-x86_64
test      python3-jsonschema module jsonschema
test      python3-yaml     module yaml
test      valgrind         program valgrind
test      mandoc           program mandoc
test      shellcheck       program shellcheck
test      chromium         program chromium
test      sqlite3          program sqlite3
test      cmark-gfm        program cmark-gfm
test      libbenchmark-tools file  /usr/share/benchmark/compare.py
test      python3-scipy    file    /usr/lib/python3/dist-packages/scipy/__init__.py
test      libpfm4-dev      header  perfmon/pfmlib.h
test      dpkg-dev         program dpkg-shlibdeps
test      file             program file
test      zsh              program zsh
test      fish             program fish
configurations clang            program clang
configurations libclang-rt-14-dev runtime tsan
configurations libomp-14-dev    openmp  clang
configurations llvm             program llvm-symbolizer
bare      debootstrap      program debootstrap
musl      musl-tools       program musl-gcc
musl      gnulib           program gnulib-tool
musl      autoconf         program autoconf
musl      automake         program automake
musl      make             program make
emulate   g++              program g++
emulate   make             program make
emulate   xz-utils         program xz
emulate   cpio             program cpio
emulate   xorriso          program xorriso
emulate   mtools           program mformat
emulate   grub-common      program grub-mkrescue
emulate   grub-pc-bin      file    /usr/lib/grub/i386-pc/moddep.lst
emulate   bochsbios        file    /usr/share/bochs/BIOS-bochs-latest
emulate   vgabios          file    /usr/share/vgabios/vgabios.bin
aarch64   gcc-aarch64-linux-gnu program aarch64-linux-gnu-gcc
aarch64   libc6-dev-arm64-cross file /usr/aarch64-linux-gnu/include/stdio.h
aarch64   libhwloc-dev:arm64 file    /usr/lib/aarch64-linux-gnu/pkgconfig/hwloc.pc
aarch64   libjansson-dev:arm64 file  /usr/lib/aarch64-linux-gnu/pkgconfig/jansson.pc
aarch64   libsmartcols-dev:arm64 file /usr/lib/aarch64-linux-gnu/pkgconfig/smartcols.pc
aarch64   libcmocka-dev:arm64 file   /usr/lib/aarch64-linux-gnu/pkgconfig/cmocka.pc
aarch64   libgomp1:arm64   file    /usr/lib/aarch64-linux-gnu/libgomp.so.1
aarch64   qemu-user        program qemu-aarch64
aarch64   python3-jsonschema module jsonschema
emulate   debian-archive-keyring file /usr/share/keyrings/debian-archive-keyring.gpg
'

note() { echo "setup: $*" >&2; }
die() { note "$*"; exit 3; }

present() { # KIND NAME
    case $1 in
    program) command -v "$2" ;;
    library) pkg-config --exists "$2" ;;
    header)  gcc -E -x c - <<<"#include <$2>" ;;
    runtime) [[ -e $(clang -print-file-name="libclang_rt.$2-$(uname -m).a") ]] ;;
    file)    [[ -e $2 ]] ;;
    loader)  PATH=$PATH:/sbin ldconfig -p | grep -F "$2" ;;
    openmp)  "$2" -fopenmp -E -x c - <<<"#include <omp.h>" ;;
    module)  python3 -c "import importlib.util as u; raise SystemExit(u.find_spec('$2') is None)" ;;
    esac &>/dev/null
}

# Prints "PACKAGE (KIND NAME)" for every requirement of the groups that is not there.
missing() { # GROUP...
    local group package kind name
    while read -r group package kind name; do
        if [[ " $* " == *" $group "* ]] && ! present "$kind" "$name"; then
            echo "$package ($kind $name)"
        fi
    done <<<"$requirements"
}

names() { sed 's/ .*//' | tr '\n' ' '; }

# Those of the packages that the system's package lists offer.
offered() {
    apt-cache policy "$@" 2>/dev/null | awk '/^[^ ]/ { sub(":$", ""); name = $0 } /Candidate:/ && $2 != "(none)" { print name }'
}

# Runs a command quietly; its output is shown when it fails.
quietly() { # COMMAND...
    local log code=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || code=$?
    ((code == 0)) || cat "$log" >&2
    rm -f "$log"
    return $code
}

apt_get() { # as root
    local as_root=()
    [[ $EUID == 0 ]] || as_root=(sudo)
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

install_missing() { # GROUP...
    local wanted packages
    wanted=$(missing "$@")
    [[ $wanted ]] || return 0
    if ! command -v apt-get >/dev/null; then
        report_missing "no apt-get on this system; install by hand" "$@"
        return
    fi
    if [[ $EUID != 0 ]] && ! command -v sudo >/dev/null; then
        report_missing "packages are missing, and installing them needs root or sudo" "$@"
        return
    fi
    read -ra packages <<<"$(names <<<"$wanted")"
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || apt_get update || note "apt-get update failed"
    read -ra packages <<<"$(offered "${packages[@]}" | names)"
    if ((${#packages[@]})); then
        note "installing ${packages[*]}"
        local install=(apt_get install --no-install-recommends "${packages[@]}")
        "${install[@]}" || { apt_get update && "${install[@]}"; } || note "apt-get failed"
    fi
    report_missing "still missing after apt-get" "$@"
}

# Says what is still missing; without a requirement of another group than optional and devices there is no going on.
report_missing() { # REASON GROUP...
    local reason=$1 required=() soft=() optional
    shift
    for group; do
        if [[ $group == @(optional|devices) ]]; then soft+=("$group"); else required+=("$group"); fi
    done
    optional=$(missing "${soft[@]}")
    [[ ! $optional ]] || note "going on without ${optional//$'\n'/, }"
    local needed
    needed=$(missing "${required[@]}")
    [[ ! $needed ]] || die "$reason: ${needed//$'\n'/, }"
}

# Puts the interpreter behind a shim such as pyenv's, which takes ten times as long to start, first in PATH: the tests start
# Python by the hundred.
skip_python_shim() {
    local python
    python=$(python3 -c 'import sys; print(sys.executable)')
    [[ $python && $python != "$(command -v python3)" ]] || return 0
    mkdir -p "$release/bin"
    ln -sf "$python" "$release/bin/python3"
    PATH=$release/bin:$PATH
}

# What the build of this CPU's kernels depends on beside the sources.
cpu() { grep -m 1 -E '^(flags|Features)' /proc/cpuinfo || true; }

in_cache() { grep -qx "$1" "$release/CMakeCache.txt"; }

# Whether build/release is of this tree and has what is asked for; more than that does no harm.
configured() { # TESTING(ON|OFF) KERNELS(all|this-cpu)
    [[ -f $release/build.ninja ]] && in_cache "CMAKE_HOME_DIRECTORY:INTERNAL=$root" || return 1
    [[ $1 == OFF ]] || in_cache BUILD_TESTING:BOOL=ON || return 1
    in_cache ULB_KERNELS_FOR:STRING=all || [[ $2 == this-cpu && $(<"$release/cpu") == "$(cpu)" ]]
}

# Configures once (CMake looks after later changes), builds what is out of date.
build_release() { # TESTING(ON|OFF) KERNELS(all|this-cpu) NINJA-TARGET...
    local testing=$1 kernels=$2
    shift 2
    if ! configured "$testing" "$kernels"; then
        note "configuring build/release"
        (cd "$root" && quietly cmake --fresh --preset release -DBUILD_TESTING="$testing" -DULB_KERNELS_FOR="$kernels") ||
            die "configuring failed"
        cpu >"$release/cpu"
    fi
    [[ $testing == OFF && -x $release/ulb-bench ]] || note "building build/release"
    quietly ninja -C "$release" "$@" || die "the build failed"
}
