# The program of the packages: the objects of ulb-bench, linked with the static form of the libraries below, so that it runs
# on every distribution of this glibc or a later one. glibc stays dynamic, for plug-ins are loaded with dlopen(); so does
# what may not be linked in (libudev, libsmartcols: LGPL).
set(ULB_LINKED_IN hwloc jansson gomp papi pfm sqlite3) # BSD, MIT, public domain; GPL with GCC's runtime exception

# ulb_portable(TARGET NAMES...): a program with the property ULB_PORTABLE links NAMES, as `pkg-config --static` gives them,
# in the place of what the imported TARGET links.
function(ulb_portable target)
    set(libraries "")
    foreach(name ${ARGN})
        if(name IN_LIST ULB_LINKED_IN)
            find_library(ULB_STATIC_${name} NAMES lib${name}.a HINTS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
            mark_as_advanced(ULB_STATIC_${name})
            list(APPEND libraries ${ULB_STATIC_${name}})
            if(NOT ULB_STATIC_${name})
                set_property(GLOBAL APPEND PROPERTY ULB_STATIC_MISSING ${name})
            endif()
        else()
            find_library(ULB_SHARED_${name} NAMES lib${name}.so lib${name}.so.1 HINTS ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
            mark_as_advanced(ULB_SHARED_${name})
            if(ULB_SHARED_${name})
                list(APPEND libraries ${ULB_SHARED_${name}})
            else()
                list(APPEND libraries ${name}) # pthread and dl, which glibc has taken in
            endif()
        endif()
    endforeach()
    list(REMOVE_ITEM libraries "")
    get_target_property(shared ${target} INTERFACE_LINK_LIBRARIES)
    if(NOT shared)
        set(shared "")
    endif()
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES
        "$<IF:$<BOOL:$<TARGET_PROPERTY:ULB_PORTABLE>>,${libraries},${shared}>")
endfunction()

# ulb_portable_program(NAME LIBRARY): ${NAME}/ulb-bench in the build folder, made on demand; there is none where a static
# library is missing (cpack says which). Its own copies of the libraries are not seen by plug-ins and engines, which bring theirs.
function(ulb_portable_program name library)
    get_property(missing GLOBAL PROPERTY ULB_STATIC_MISSING)
    if(missing)
        return()
    endif()
    list(TRANSFORM ULB_LINKED_IN REPLACE "(.+)" "lib\\1.a" OUTPUT_VARIABLE hidden)
    list(JOIN hidden ":" hidden)
    add_executable(${name} EXCLUDE_FROM_ALL)
    target_link_libraries(${name} PRIVATE ${library})
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,${hidden} -Wl,--as-needed -Wl,-z,relro,-z,now)
    set_target_properties(${name} PROPERTIES ULB_PORTABLE ON OUTPUT_NAME ulb-bench ENABLE_EXPORTS ON LINKER_LANGUAGE C
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${name} EXCLUDE_FROM_ALL)
endfunction()
