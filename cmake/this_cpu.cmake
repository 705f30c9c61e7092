# ulb_runnable_isas(VARIABLE): the ISAs of cmake/kernels.cmake whose bits (ULB_ISA_<isa>_NEEDS) this machine has, as the
# program itself finds out.
function(ulb_runnable_isas variable)
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "ULB_KERNELS_FOR=this-cpu needs a build for the machine that builds; use all")
    endif()
    get_cmake_property(names VARIABLES)
    list(FILTER names INCLUDE REGEX "^ULB_ISA_.+_NEEDS$")
    set(rows "")
    foreach(name ${names})
        string(REGEX REPLACE "^ULB_ISA_(.+)_NEEDS$" "\\1" isa ${name})
        string(APPEND rows "    {\"${isa}\", ${${name}}},\n")
    endforeach()
    set(source ${CMAKE_BINARY_DIR}/runnable_isas.c)
    file(WRITE ${source} "#include \"common/isa.h\"
#include <stdio.h>
static const struct {
    const char *isa;
    ulb_isa_set needs;
} isas[] = {
${rows}};
int main(void)
{
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (!(isas[i].needs & ~ulb_isa_detect()))
            printf(\";%s\" + !i, isas[i].isa);
    return 0;
}
")
    try_run(code compiled SOURCES ${source} ${CMAKE_SOURCE_DIR}/common/isa.c ${CMAKE_SOURCE_DIR}/common/status.c
        ${CMAKE_SOURCE_DIR}/common/text.c
        COMPILE_DEFINITIONS -D_GNU_SOURCE CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR}
        COMPILE_OUTPUT_VARIABLE said RUN_OUTPUT_VARIABLE isas NO_CACHE)
    if(NOT compiled OR NOT code EQUAL 0)
        message(FATAL_ERROR "what this CPU runs cannot be found out: ${said}")
    endif()
    set(${variable} ${isas} PARENT_SCOPE)
endfunction()
