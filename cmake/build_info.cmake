# Writes build_info.h when its content changes: cmake -DIN= -DOUT= -DROOT= -D... -P build_info.cmake, before every build,
# so that the version and the commit in a record are those that were built; COMMIT takes the place of git's where given.
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ulb_version(${ROOT} ${PROJECT_VERSION} ULB_VERSION ULB_COMMIT)
if(COMMIT)
    set(ULB_COMMIT ${COMMIT})
endif()
configure_file(${IN} ${OUT} @ONLY)
