# ulb_runnable_isas(VARIABLE): the ISA words of kernels/CMakeLists.txt whose bits (ULB_ISA_<word>_NEEDS) this machine has, as
# the program itself finds out.
function(ulb_runnable_isas variable)
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "ULB_KERNELS_FOR=this-cpu needs a build for the machine that builds; use all")
    endif()
    get_cmake_property(names VARIABLES)
    list(FILTER names INCLUDE REGEX "^ULB_ISA_.+_NEEDS$")
    set(rows "    {\"ref\", 0},\n    {\"base\", 0},\n")
    foreach(name ${names})
        string(REGEX REPLACE "^ULB_ISA_(.+)_NEEDS$" "\\1" word ${name})
        string(APPEND rows "    {\"${word}\", ${${name}}},\n")
    endforeach()
    set(source ${CMAKE_BINARY_DIR}/runnable_isas.c)
    file(WRITE ${source} "#include \"common/isa.h\"
#include <stdio.h>
static const struct {
    const char *word;
    ulb_isa_set needs;
} words[] = {
${rows}};
int main(void)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!(words[i].needs & ~ulb_isa_detect()))
            printf(\";%s\" + !i, words[i].word);
    return 0;
}
")
    try_run(code compiled SOURCES ${source} ${CMAKE_SOURCE_DIR}/common/isa.c ${CMAKE_SOURCE_DIR}/common/status.c
        ${CMAKE_SOURCE_DIR}/common/text.c
        COMPILE_DEFINITIONS -D_GNU_SOURCE CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR}
        COMPILE_OUTPUT_VARIABLE said RUN_OUTPUT_VARIABLE words NO_CACHE)
    if(NOT compiled OR NOT code EQUAL 0)
        message(FATAL_ERROR "what this CPU runs cannot be found out: ${said}")
    endif()
    set(${variable} ${words} PARENT_SCOPE)
endfunction()
