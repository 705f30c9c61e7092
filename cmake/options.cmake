# Compiler settings that hold for every target of the project.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    string(APPEND CMAKE_C_FLAGS_RELEASE " -gdwarf-4") # valgrind 3.19 gives up on Clang's DWARF 5
endif()

set(ULB_SANITIZE "" CACHE STRING "sanitizers for the whole build, e.g. address,undefined")
set(ULB_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion
    -Wundef -Wpointer-arith -Werror)

add_compile_definitions(_GNU_SOURCE)
# The compiler's paths are kept out of the binary: the same source gives the same build anywhere.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
add_link_options(-Wl,--build-id=sha1) # by which records tell one build from another of the same commit
if(ULB_SANITIZE)
    # Lines are enough for a report; all that -g tells of unrolled kernels takes a third of their compile time.
    add_compile_options(-fsanitize=${ULB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
    add_link_options(-fsanitize=${ULB_SANITIZE})
endif()

# One library per folder of the architecture: ulb_layer(NAME SOURCES ... LINKS ...). Includes are written from
# the root of the tree ("kernels/kernel.h"), which is what scripts/check-layers reads.
function(ulb_layer name)
    cmake_parse_arguments(LAYER "" "" "SOURCES;LINKS" ${ARGN})
    add_library(ulb_${name} STATIC ${LAYER_SOURCES})
    target_include_directories(ulb_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_compile_options(ulb_${name} PRIVATE ${ULB_WARNINGS})
    target_link_libraries(ulb_${name} PUBLIC ${LAYER_LINKS})
endfunction()
