# The source tarball of the last commit: cmake -DSOURCE= -DRELEASE= -DFOLDER= -P dist.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/../version.cmake)
ulb_version(${SOURCE} ${RELEASE} version commit)
if(version MATCHES "dirty$")
    message(FATAL_ERROR "files differ from the last commit, which is what a source tarball holds: commit them first")
endif()
set(name ulb-bench-${version})
execute_process(COMMAND git -C ${SOURCE} archive --format=tar.gz --prefix=${name}/ -o ${FOLDER}/${name}.tar.gz HEAD
                COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${FOLDER}/${name}.tar.gz")
