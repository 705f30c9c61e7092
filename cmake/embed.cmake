# ulb_embed(TARGET SYMBOL FILE): puts FILE into TARGET as `const unsigned char SYMBOL[]` and `const size_t SYMBOL_size`,
# so that the installed binary needs no data folder. The assembler reads the file; a change of it rebuilds the target.
function(ulb_embed target symbol file)
    get_filename_component(path ${file} ABSOLUTE)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    set(text "#include <stddef.h>\n")
    string(APPEND text "extern const unsigned char ${symbol}[];\nextern const size_t ${symbol}_size;\n")
    string(APPEND text "__asm__(\".section .rodata\\n.global ${symbol}\\n.balign 16\\n${symbol}:\\n\"\n")
    string(APPEND text "        \".incbin \\\"${path}\\\"\\n${symbol}_end: .byte 0\\n.balign 8\\n.global ${symbol}_size\\n\"\n")
    string(APPEND text "        \"${symbol}_size: .quad ${symbol}_end - ${symbol}\\n.previous\\n\");\n")
    file(GENERATE OUTPUT ${source} CONTENT "${text}")
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${path})
    target_sources(${target} PRIVATE ${source})
endfunction()
