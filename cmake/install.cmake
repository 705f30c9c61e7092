# What `cmake --install` puts beside the binary: man page, completions, headers for plug-ins, data files, documentation.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME common)
install(FILES docs/ulb-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/completions/ulb-bench.bash RENAME ulb-bench
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES docs/completions/_ulb-bench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES docs/completions/ulb-bench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Kernels of a third party (docs/ADDING_A_KERNEL.md) are compiled with -I .../include/ulb-bench.
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ulb-bench FILES_MATCHING PATTERN *.h PATTERN embedding EXCLUDE
        PATTERN opencl EXCLUDE PATTERN plugin_loader.h EXCLUDE)
install(FILES common/bf16.h common/fp16.h common/isa.h common/mem.h common/mix.h common/status.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ulb-bench/common)
install(FILES tests/kernels/plugin_kernel.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

install(FILES results/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench)
install(FILES models/data/cores.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench)
install(DIRECTORY results/reference DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench FILES_MATCHING PATTERN *.csv)
install(DIRECTORY models/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench/platforms PATTERN cores.json EXCLUDE)

# Their links to one another are those of the source tree.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES cmake/package/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.yml PATTERN *.sh PATTERN completions EXCLUDE)
