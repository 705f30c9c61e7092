# Run by cpack on the installed tree before it is packed: a .deb keeps Debian's places and forms.
if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
set(doc ${share}/doc/ulb-bench)

file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_ulb-bench ${share}/zsh/vendor-completions/_ulb-bench)
file(REMOVE_RECURSE ${share}/zsh/site-functions)

execute_process(COMMAND git -C ${CPACK_ULB_SOURCE} log -1 --format=%cD OUTPUT_VARIABLE date
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
    execute_process(COMMAND date -uR OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${doc}/changelog.Debian @ONLY)
configure_file(${doc}/CHANGELOG.md ${doc}/changelog COPYONLY)
file(REMOVE ${doc}/LICENSE) # "copyright" holds it
execute_process(COMMAND gzip -9n ${share}/man/man1/ulb-bench.1 ${doc}/changelog.Debian ${doc}/changelog
                COMMAND_ERROR_IS_FATAL ANY)
