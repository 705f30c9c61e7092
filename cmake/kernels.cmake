# How kernels are compiled, for kernels/CMakeLists.txt, which says what is built from which file.

# ---- ISAs: compiler flags for a file, and the bits a CPU needs to run what they give ----

set(ULB_X86 OFF)
set(ULB_ARM OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(ULB_X86 ON)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(ULB_ARM ON)
endif()

# What the target has at least: scalar references, and plain C that the compiler vectorises.
set(ULB_ISA_ref_NEEDS 0)
set(ULB_ISA_base_NEEDS 0)
# FMA and F16C came to every CPU with or before AVX2.
set(ULB_ISA_avx2_FLAGS -mavx2 -mfma -mf16c)
set(ULB_ISA_avx2_NEEDS "ULB_ISA_AVX2 | ULB_ISA_FMA | ULB_ISA_F16C")
set(ULB_ISA_bmi2_FLAGS -mavx2 -mbmi2)
set(ULB_ISA_bmi2_NEEDS "ULB_ISA_AVX2 | ULB_ISA_BMI2")
set(ULB_ISA_avx2gfni_FLAGS -mavx2 -mgfni)
set(ULB_ISA_avx2gfni_NEEDS "ULB_ISA_AVX2 | ULB_ISA_GFNI")
set(ULB_AVX512_FLAGS ${ULB_ISA_avx2_FLAGS} -mavx512f -mavx512bw -mavx512vl)
set(ULB_ISA_avx512_FLAGS ${ULB_AVX512_FLAGS} -DULB_DP_512)
set(ULB_ISA_avx512_NEEDS "${ULB_ISA_avx2_NEEDS} | ULB_ISA_AVX512F | ULB_ISA_AVX512BW | ULB_ISA_AVX512VL")
set(ULB_ISA_avx512gfni_FLAGS ${ULB_ISA_avx512_FLAGS} -mgfni)
set(ULB_ISA_avx512gfni_NEEDS "${ULB_ISA_avx512_NEEDS} | ULB_ISA_GFNI")
set(ULB_ISA_avx512vnni_FLAGS ${ULB_AVX512_FLAGS} -mavx512vnni -DULB_DP_512)
set(ULB_ISA_avx512vnni_NEEDS "${ULB_ISA_avx512_NEEDS} | ULB_ISA_AVX512VNNI")
set(ULB_ISA_avx512vbmi_FLAGS ${ULB_ISA_avx512vnni_FLAGS} -mavx512vbmi)
set(ULB_ISA_avx512vbmi_NEEDS "${ULB_ISA_avx512vnni_NEEDS} | ULB_ISA_AVX512VBMI")
set(ULB_ISA_avx512bf16_FLAGS ${ULB_AVX512_FLAGS} -mavx512bf16 -DULB_DP_512)
set(ULB_ISA_avx512bf16_NEEDS "${ULB_ISA_avx512_NEEDS} | ULB_ISA_AVX512BF16")
# Every CPU with AVX512-BF16 has AVX512-VNNI.
set(ULB_ISA_avx512vnnibf16_FLAGS ${ULB_ISA_avx512vnni_FLAGS} -mavx512bf16)
set(ULB_ISA_avx512vnnibf16_NEEDS "${ULB_ISA_avx512vnni_NEEDS} | ULB_ISA_AVX512BF16")
# 256-bit dot products exist in three encodings: VEX, EVEX (Ice Lake, Zen 4) and the signed ones of AVX-VNNI-INT8.
set(ULB_ISA_avxvnni_FLAGS ${ULB_ISA_avx2_FLAGS} -mavxvnni -DULB_DP_VEX)
set(ULB_ISA_avxvnni_NEEDS "${ULB_ISA_avx2_NEEDS} | ULB_ISA_AVXVNNI")
set(ULB_ISA_avx512vnni256_FLAGS ${ULB_AVX512_FLAGS} -mavx512vnni -DULB_DP_EVEX)
set(ULB_ISA_avx512vnni256_NEEDS "${ULB_ISA_avx512vnni_NEEDS}")
set(ULB_ISA_avxvnniint8_FLAGS ${ULB_ISA_avx2_FLAGS} -DULB_DP_SIGNED)
set(ULB_ISA_avxvnniint8_NEEDS "${ULB_ISA_avx2_NEEDS} | ULB_ISA_AVXVNNIINT8")
if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # vpdpbssd is younger than Clang 14's own assembler; GNU as knows it.
    list(APPEND ULB_ISA_avxvnniint8_FLAGS -fno-integrated-as)
endif()
# Every CPU with tiles has AVX-512, which makes their operands.
set(ULB_ISA_amxint8_FLAGS ${ULB_AVX512_FLAGS} -mamx-tile -mamx-int8 -DULB_DP_512)
set(ULB_ISA_amxint8_NEEDS "${ULB_ISA_avx512_NEEDS} | ULB_ISA_AMXTILE | ULB_ISA_AMXINT8")
set(ULB_ISA_amxint8gfni_FLAGS ${ULB_ISA_amxint8_FLAGS} -mgfni)
set(ULB_ISA_amxint8gfni_NEEDS "${ULB_ISA_amxint8_NEEDS} | ULB_ISA_GFNI")
set(ULB_ISA_amxbf16_FLAGS ${ULB_ISA_avx2_FLAGS} -mamx-tile -mamx-bf16)
set(ULB_ISA_amxbf16_NEEDS "${ULB_ISA_avx2_NEEDS} | ULB_ISA_AMXTILE | ULB_ISA_AMXBF16")
# AArch64.
set(ULB_ISA_neon_NEEDS "ULB_ISA_NEON")
set(ULB_ISA_dotprod_FLAGS -march=armv8.2-a+dotprod)
set(ULB_ISA_dotprod_NEEDS "ULB_ISA_NEON | ULB_ISA_DOTPROD")
set(ULB_ISA_i8mm_FLAGS -march=armv8.2-a+dotprod+i8mm)
set(ULB_ISA_i8mm_NEEDS "${ULB_ISA_dotprod_NEEDS} | ULB_ISA_I8MM")
set(ULB_ISA_bf16_FLAGS -march=armv8.2-a+bf16)
set(ULB_ISA_bf16_NEEDS "ULB_ISA_NEON | ULB_ISA_BF16")
set(ULB_ISA_sve_FLAGS -march=armv8.2-a+sve)
set(ULB_ISA_sve_NEEDS "ULB_ISA_SVE")
set(ULB_ISA_svebf16_FLAGS -march=armv8.2-a+sve+bf16)
set(ULB_ISA_svebf16_NEEDS "ULB_ISA_SVE | ULB_ISA_SVEBF16")
set(ULB_ISA_svei8mm_FLAGS -march=armv8.2-a+sve+i8mm)
set(ULB_ISA_svei8mm_NEEDS "ULB_ISA_SVE | ULB_ISA_SVEI8MM")

function(ulb_need_isa file isa)
    if(NOT DEFINED ULB_ISA_${isa}_NEEDS)
        message(FATAL_ERROR "kernels/CMakeLists.txt wants ${file} for '${isa}', an ISA that cmake/kernels.cmake does not "
                            "define; add ULB_ISA_${isa}_NEEDS there or correct the line")
    endif()
endfunction()

# ---- Which kernels a build leaves out ----

# Whose kernels are built. The first build of scripts/bench is for this CPU: of each file the ISAs that the machine runs
# and that no better one of the same file replaces there.
set(ULB_KERNELS_FOR all CACHE STRING "all, or this-cpu: of each file its best ISAs on the machine that builds")
set_property(CACHE ULB_KERNELS_FOR PROPERTY STRINGS all this-cpu)
# What replaces an ISA: the same loop with wider vectors, fewer instructions or more registers.
set(ULB_ISA_avx2_BETTER avx2gfni avxvnni avx512 avx512gfni avx512vnni avx512vnni256)
set(ULB_ISA_avx2gfni_BETTER avx512gfni)
set(ULB_ISA_avx512_BETTER avx512gfni)
set(ULB_ISA_avxvnni_BETTER avx512vnni avx512vnni256)
set(ULB_ISA_avxvnniint8_BETTER avx512vnni avx512vnni256 avxvnni)
set(ULB_ISA_avx512vnni256_BETTER avx512vnni)
# The paper's sequences at 256 bits and what int1 is set beside them: models of platforms are made from these kernels.
set(ULB_MODELLED "^(int1/|int2/pshufb$)")

set(ULB_ONLY "" CACHE STRING "kernels to be built, a regular expression of files such as ^(int8|bf16)/; empty: all of them")
set(ULB_ISA_LEFT_OUT "" CACHE STRING "ISAs of which no kernel is built, a regular expression such as ^avx512; empty: none")
if(ULB_KERNELS_FOR STREQUAL this-cpu)
    include(${CMAKE_SOURCE_DIR}/cmake/this_cpu.cmake)
    ulb_runnable_isas(ULB_RUNNABLE)
elseif(NOT ULB_KERNELS_FOR STREQUAL all)
    message(FATAL_ERROR "ULB_KERNELS_FOR is '${ULB_KERNELS_FOR}'; all or this-cpu is needed")
endif()

# Takes those ISAs that this CPU lacks or has better ones for out of the list in the variable named.
function(ulb_keep_best list)
    set(runnable "")
    foreach(isa ${${list}})
        if(isa IN_LIST ULB_RUNNABLE)
            list(APPEND runnable ${isa})
        endif()
    endforeach()
    set(best "")
    foreach(isa ${runnable})
        set(better ${ULB_ISA_${isa}_BETTER})
        list(REMOVE_ITEM better ${runnable})
        if("${better}" STREQUAL "${ULB_ISA_${isa}_BETTER}")
            list(APPEND best ${isa})
        endif()
    endforeach()
    set(${list} ${best} PARENT_SCOPE)
endfunction()

# Takes those ISAs of a file that are not built out of the list in the variable named.
function(ulb_leave_out file unless_vnni list)
    set(built ${${list}})
    if(ULB_ONLY AND NOT file MATCHES "${ULB_ONLY}")
        set(built "")
    endif()
    if(ULB_ISA_LEFT_OUT)
        list(FILTER built EXCLUDE REGEX "${ULB_ISA_LEFT_OUT}")
    endif()
    if(ULB_KERNELS_FOR STREQUAL this-cpu AND NOT file MATCHES "${ULB_MODELLED}")
        ulb_keep_best(built)
        if(unless_vnni AND ULB_RUNNABLE MATCHES vnni)
            set(built "")
        endif()
    endif()
    set(${list} ${built} PARENT_SCOPE)
endfunction()

# ---- Compiler flags of all kernels ----

# -O3 unrolls the short loops over a tile's vectors completely; only then do their accumulators stay in registers, and
# are offsets in statements constants, in a debug build too. The scalar reference stays at the default level.
# Loops begin lines (int2 at 512 bits took 0.44 or 0.467 cycles by where its loop happened to lie); GCC's those that it
# takes for hot alone. All of them, by --param align-threshold, gained nothing over all kernels.
set(ULB_KERNEL_FLAGS -O3 -falign-loops=64)
# A register-only loop is none where its sums are checked as memory: it is compiled alike in every build.
set(ULB_PEAK_FLAGS ${ULB_KERNEL_FLAGS})
if(ULB_SANITIZE)
    set(ULB_KERNEL_FLAGS "")
    list(APPEND ULB_PEAK_FLAGS -fno-sanitize=all)
endif()
if(ULB_SANITIZE MATCHES address)
    # Checks in line make unrolled code take twice as long to compile, and so do those of every address, whose faults
    # AddressSanitizer sees as well.
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        list(APPEND ULB_KERNEL_FLAGS "SHELL:--param asan-instrumentation-with-call-threshold=0")
    else()
        list(APPEND ULB_KERNEL_FLAGS "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0")
    endif()
    if(ULB_SANITIZE MATCHES undefined)
        list(APPEND ULB_KERNEL_FLAGS -fno-sanitize=null,object-size,pointer-overflow)
    endif()
endif()

# The compiler's intrinsics take longer to read than most kernels to compile: each ISA has them precompiled, once.
set(ULB_INTRINSICS immintrin.h)
if(ULB_ARM)
    set(ULB_INTRINSICS arm_neon.h)
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/intrinsics.c "")
function(ulb_precompiled_intrinsics target isa flags)
    string(MD5 key "${flags}")
    set(headers intrinsics_${isa}_${key})
    if(NOT TARGET ${headers})
        add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/intrinsics.c)
        target_compile_options(${headers} PRIVATE ${ULB_WARNINGS} ${ULB_ISA_${isa}_FLAGS} ${flags})
        target_precompile_headers(${headers} PRIVATE <${ULB_INTRINSICS}> <stdbool.h> <stddef.h> <stdint.h> <string.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# ---- A slowdown injected into one kernel ----

# For tests of regression tracking alone: ULB_INJECT_SLOWDOWN=FILE:PERCENT, e.g. tern1_6/triple_maddubs:7, makes the
# kernels of that file do so much more work.
set(ULB_INJECT_SLOWDOWN "" CACHE STRING "test builds only: FILE:PERCENT of extra work in one file's kernels")
if(ULB_INJECT_SLOWDOWN)
    string(REGEX MATCH "^([a-z0-9_]+/[a-z0-9_]+):([0-9.]+)$" slowed "${ULB_INJECT_SLOWDOWN}")
    set(ULB_SLOWED_FILE formats/${CMAKE_MATCH_1})
    set(PERCENT ${CMAKE_MATCH_2})
    if(NOT slowed OR NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${ULB_SLOWED_FILE}.c)
        message(FATAL_ERROR "ULB_INJECT_SLOWDOWN is '${ULB_INJECT_SLOWDOWN}'; FILE:PERCENT is needed, FILE a file of "
                            "kernels/formats without its .c, e.g. tern1_6/triple_maddubs:7")
    endif()
endif()

# Puts the kernel's symbol into the table, or that of the slowed kernel in its place.
function(ulb_add_to_table type file symbol)
    if(ULB_INJECT_SLOWDOWN AND file STREQUAL ULB_SLOWED_FILE)
        set(ROW ${symbol})
        configure_file(${CMAKE_SOURCE_DIR}/tests/kernels/inject_slowdown.c.in slowed_${symbol}.c @ONLY)
        set_property(GLOBAL APPEND PROPERTY ULB_KERNEL_OBJECTS ${CMAKE_CURRENT_BINARY_DIR}/slowed_${symbol}.c)
        set(symbol slowed_${symbol})
        set_property(GLOBAL APPEND_STRING PROPERTY ULB_TABLE_DECLARATIONS "extern struct ${type} ${symbol};\n")
    else()
        set_property(GLOBAL APPEND_STRING PROPERTY ULB_TABLE_DECLARATIONS "extern const struct ${type} ${symbol};\n")
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY ULB_TABLE_${type} "    &${symbol},\n")
endfunction()

# ---- What kernels/CMakeLists.txt says ----

# Compiles a file of kernels/ (without its .c) for one ISA and one size of groups (0: a scale per row), as an object of
# its own. What the file defines goes into the table: a struct of that type, or one for each of VARIANTS.
function(ulb_compile type file isa group)
    cmake_parse_arguments(PARSE_ARGV 4 FILE "" "" "VARIANTS;FLAGS")
    ulb_need_isa(${file} ${isa})
    string(REGEX REPLACE "^formats/" "" name ${file}_${isa})
    if(group)
        string(APPEND name ${group})
    endif()
    string(MAKE_C_IDENTIFIER ${name} name)
    set(target kernel_${name})
    set(symbol ulb_kernel_${name})
    set(flags ${ULB_KERNEL_FLAGS})
    if(type STREQUAL ulb_peak)
        set(flags ${ULB_PEAK_FLAGS})
    endif()
    list(APPEND flags ${FILE_FLAGS})
    add_library(${target} OBJECT ${file}.c)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(${target} PRIVATE ${ULB_WARNINGS} ${ULB_ISA_${isa}_FLAGS} ${flags})
    # A precompiled header loses what GCC's arm_sve.h declares.
    if(ULB_ISA_${isa}_FLAGS AND NOT isa MATCHES "^sve")
        ulb_precompiled_intrinsics(${target} ${isa} "${flags}")
    endif()
    target_compile_definitions(${target} PRIVATE "ULB_KERNEL_ISA=\"${isa}\"" "ULB_KERNEL_NEEDS=(${ULB_ISA_${isa}_NEEDS})")
    if(group)
        target_compile_definitions(${target} PRIVATE ULB_GROUP=${group})
    endif()
    set_property(GLOBAL APPEND PROPERTY ULB_KERNEL_OBJECTS $<TARGET_OBJECTS:${target}>)
    if(FILE_VARIANTS)
        target_compile_definitions(${target} PRIVATE ULB_KERNEL_PREFIX=${symbol}_)
        foreach(variant ${FILE_VARIANTS})
            ulb_add_to_table(${type} ${file} ${symbol}_${variant})
        endforeach()
    else()
        target_compile_definitions(${target} PRIVATE ULB_KERNEL=${symbol})
        ulb_add_to_table(${type} ${file} ${symbol})
    endif()
endfunction()

# ulb_kernel(FORMAT/ALGORITHM ISA... [GROUPS SIZE...] [VARIANTS NAME...] [UNLESS_VNNI]): see kernels/CMakeLists.txt.
function(ulb_kernel file)
    cmake_parse_arguments(PARSE_ARGV 1 KERNEL "UNLESS_VNNI" "" "GROUPS;VARIANTS")
    set(isas ${KERNEL_UNPARSED_ARGUMENTS})
    set(built ${isas})
    ulb_leave_out(${file} ${KERNEL_UNLESS_VNNI} built)
    foreach(group 0 ${KERNEL_GROUPS})
        foreach(isa ${isas})
            ulb_need_isa(formats/${file} ${isa})
            if(isa IN_LIST built)
                ulb_compile(ulb_kernel formats/${file} ${isa} ${group} VARIANTS ${KERNEL_VARIANTS})
            else()
                set_property(GLOBAL APPEND_STRING PROPERTY ULB_TABLE_LEFT_OUT "    {\"${file}\", \"${isa}\", ${group}},\n")
            endif()
        endforeach()
    endforeach()
    get_filename_component(format ${file} DIRECTORY)
    set_property(GLOBAL APPEND PROPERTY ULB_FORMATS formats/${format}/format.c)
endfunction()

# What is no product of weights and activations: ulb_readers(FILE ISA...) and so on.
function(ulb_readers file)
    foreach(isa ${ARGN})
        ulb_compile(ulb_reader_set ${file} ${isa} 0)
    endforeach()
endfunction()
function(ulb_peak file)
    foreach(isa ${ARGN})
        ulb_compile(ulb_peak ${file} ${isa} 0)
    endforeach()
endfunction()
function(ulb_embedding file)
    foreach(isa ${ARGN})
        ulb_compile(ulb_embedding ${file} ${isa} 0)
    endforeach()
endfunction()
function(ulb_vector_ops file)
    cmake_parse_arguments(PARSE_ARGV 1 OPS "" "" "FLAGS")
    foreach(isa ${OPS_UNPARSED_ARGUMENTS})
        ulb_compile(ulb_vector_ops ${file} ${isa} 0 FLAGS ${OPS_FLAGS})
    endforeach()
endfunction()

function(ulb_attention file)
    cmake_parse_arguments(PARSE_ARGV 1 OPS "" "" "FLAGS")
    foreach(isa ${OPS_UNPARSED_ARGUMENTS})
        ulb_compile(ulb_attention_ops ${file} ${isa} 0 FLAGS ${OPS_FLAGS})
    endforeach()
endfunction()

# Writes the table of all that was named, and puts what the kernels' library has of it into the variables named: sources
# of formats, and objects.
function(ulb_kernel_table file formats objects)
    foreach(part DECLARATIONS LEFT_OUT ulb_kernel ulb_reader_set ulb_peak ulb_vector_ops ulb_attention_ops ulb_embedding)
        get_property(${part} GLOBAL PROPERTY ULB_TABLE_${part})
    endforeach()
    file(GENERATE OUTPUT ${file} CONTENT
"#include \"kernels/kernel.h\"
#include \"kernels/embedding.h\"
#include \"kernels/microkernel.h\"
#include \"kernels/vector/attention.h\"
#include \"kernels/vector/vector.h\"
${DECLARATIONS}
static const struct ulb_kernel *const kernels[] = {
${ulb_kernel}};
const struct ulb_kernel *const *ulb_kernels = kernels;
size_t ulb_kernel_count = sizeof kernels / sizeof *kernels;
const struct ulb_left_out ulb_left_out[] = {
${LEFT_OUT}    {0, 0, 0}};
const size_t ulb_left_out_count = sizeof ulb_left_out / sizeof *ulb_left_out - 1;
const struct ulb_reader_set *const ulb_reader_sets[] = {
${ulb_reader_set}};
const size_t ulb_reader_set_count = sizeof ulb_reader_sets / sizeof *ulb_reader_sets;
const struct ulb_peak *const ulb_peaks[] = {
${ulb_peak}    0};
extern const struct ulb_vector_ops *const ulb_vector_tables[];
const struct ulb_vector_ops *const ulb_vector_tables[] = {
${ulb_vector_ops}    0};
extern const struct ulb_attention_ops *const ulb_attention_tables[];
const struct ulb_attention_ops *const ulb_attention_tables[] = {
${ulb_attention_ops}    0};
const struct ulb_embedding *const ulb_embeddings[] = {
${ulb_embedding}    0};
")
    get_property(sources GLOBAL PROPERTY ULB_FORMATS)
    list(REMOVE_DUPLICATES sources)
    set(${formats} ${sources} PARENT_SCOPE)
    get_property(compiled GLOBAL PROPERTY ULB_KERNEL_OBJECTS)
    set(${objects} ${compiled} PARENT_SCOPE)
endfunction()

# ulb_device_kernels(TARGET FILE...): puts the texts of kernels/opencl/FILE.cl into TARGET, and the table of what they list.
function(ulb_device_kernels target)
    set(declarations "")
    set(rows "")
    foreach(file ${ARGN})
        set(list ${CMAKE_CURRENT_BINARY_DIR}/device_${file}.c)
        file(GENERATE OUTPUT ${list} CONTENT "#include \"kernels/opencl/${file}.cl\"\n")
        target_sources(${target} PRIVATE ${list})
        ulb_embed(${target} ulb_opencl_${file} ${CMAKE_CURRENT_SOURCE_DIR}/opencl/${file}.cl)
        string(APPEND declarations "extern const struct ulb_device_file ulb_device_file_${file};\n")
        string(APPEND rows "    &ulb_device_file_${file},\n")
    endforeach()
    foreach(part lanes matrix product)
        ulb_embed(${target} ulb_opencl_${part} ${CMAKE_CURRENT_SOURCE_DIR}/opencl/${part}.clh)
    endforeach()
    set(table ${CMAKE_CURRENT_BINARY_DIR}/device_kernel_table.c)
    file(GENERATE OUTPUT ${table} CONTENT
"#include \"kernels/opencl/device_kernel.h\"
${declarations}
const struct ulb_device_file *const ulb_device_files[] = {
${rows}    0};
")
    target_sources(${target} PRIVATE ${table})
endfunction()
