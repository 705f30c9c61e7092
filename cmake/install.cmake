# What `cmake --install` puts beside the binary: man page, completions, data files, licence.
install(FILES docs/ulb-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/completions/ulb-bench.bash RENAME ulb-bench
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES docs/completions/_ulb-bench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES docs/completions/ulb-bench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES results/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench)
install(FILES models/cores.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench)
install(DIRECTORY results/reference models/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/ulb-bench)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
