# Packages: `cpack -G DEB` and `cpack -G TGZ` in build/release build the program of packages (cmake/portable.cmake) and put it,
# with all that `cmake --install` installs beside its own, into a .deb or a .tar.gz. `ninja dist` makes the source tarball.
set(ULB_PACKAGER "ulb-bench authors <ulb-bench@example.org>" CACHE STRING "name and address of who makes a .deb")
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME ulb-bench)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "the ulb-bench authors")
set(CPACK_PACKAGE_CONTACT ${ULB_PACKAGER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "limits of a CPU in ultra-low-bit LLM inference")
set(CPACK_PACKAGE_DESCRIPTION
"Measures the bandwidth and the compute cost that bound matrix-vector products
with weights of 1 to 16 bits, runs them over the shapes of language models, and
says how far each result is from the limit, and why.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package/config.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package/debian.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_INSTALL_COMMANDS "${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target portable")
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};ulb-bench;portable;/;${CMAKE_BINARY_DIR};ulb-bench;common;/")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "valgrind, gcc, libc6-dev")

# For cmake/package/*.cmake, which cpack reads: it knows no other variables.
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_ULB_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_ULB_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ULB_BUILD_TYPE ${CMAKE_BUILD_TYPE})
set(CPACK_ULB_SANITIZE ${ULB_SANITIZE})
set(CPACK_ULB_ONLY ${ULB_ONLY})
set(CPACK_ULB_KERNELS_FOR ${ULB_KERNELS_FOR})
get_property(CPACK_ULB_MISSING GLOBAL PROPERTY ULB_STATIC_MISSING)
include(CPack)

# The committed files under one folder; they say by cmake/archive.txt which commit they are.
add_custom_target(dist COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DRELEASE=${PROJECT_VERSION}
    -DFOLDER=${CMAKE_BINARY_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/package/dist.cmake VERBATIM)
