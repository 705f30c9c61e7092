# Writes build_info.h when its content changes: cmake -DIN= -DOUT= -DROOT= -D... -P build_info.cmake, before every build,
# so that the commit in a record is the commit that was built: COMMIT where that is given, of sources without a
# repository of their own. One that they merely lie in is not looked for.
set(ULB_COMMIT ${COMMIT})
if(NOT ULB_COMMIT)
    get_filename_component(above ${ROOT} DIRECTORY)
    set(ENV{GIT_CEILING_DIRECTORIES} ${above})
    execute_process(COMMAND git -C ${ROOT} describe --always --dirty --abbrev=12
                    OUTPUT_VARIABLE ULB_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT ULB_COMMIT)
    set(ULB_COMMIT "unknown")
endif()
configure_file(${IN} ${OUT} @ONLY)
