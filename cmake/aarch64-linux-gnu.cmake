# Cross build for AArch64 with Debian's packages: gcc-aarch64-linux-gnu (or Clang with its libraries), and arm64's
# libhwloc-dev and libjansson-dev beside the machine's own (dpkg --add-architecture arm64).
# What it makes runs here under qemu-aarch64: scripts/test-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)
if(NOT CMAKE_C_COMPILER)
    set(CMAKE_C_COMPILER ${triple}-gcc)
endif()
set(CMAKE_C_COMPILER_TARGET ${triple})
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})
set(CMAKE_FIND_ROOT_PATH /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${triple}/pkgconfig:/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max)
