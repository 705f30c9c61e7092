# ulb_version(ROOT RELEASE VERSION COMMIT): into the last two, the version and the commit of the sources in ROOT, by the
# newest tag vX.Y.Z before them:
#   X.Y.Z           the tag itself; without a repository, RELEASE, which the project's own file names
#   X.Y.Z+N.gHASH   N commits after it; ".dirty" behind it when files differ from the commit
#   RELEASE~gHASH   no such tag: before the first release, or a clone without its tags
# A repository that the sources merely lie in is not looked for. Those of `git archive` say in archive.txt where they are from.
function(ulb_version root release version_out commit_out)
    get_filename_component(above ${root} DIRECTORY)
    set(ENV{GIT_CEILING_DIRECTORIES} ${above})
    set(git git -C ${root} describe --abbrev=12)
    execute_process(COMMAND ${git} --always --exclude=* --dirty OUTPUT_VARIABLE commit
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${git} --long --match v[0-9]* --dirty=.dirty OUTPUT_VARIABLE tag
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT commit)
        file(READ ${root}/cmake/archive.txt archive)
        if(archive MATCHES "^commit ([0-9a-f]+), tag (.*)\n")
            set(tag ${CMAKE_MATCH_2})
            string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
        endif()
    endif()
    if(tag MATCHES "^v([0-9.]+)(-0-g[0-9a-f]+)?$")
        set(version ${CMAKE_MATCH_1})
    elseif(tag MATCHES "^v([0-9.]+)-([0-9]+)-(g.+)$")
        set(version ${CMAKE_MATCH_1}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
    elseif(commit)
        string(REPLACE "-" "." hash ${commit})
        set(version ${release}~g${hash})
    else()
        set(version ${release})
        set(commit unknown)
    endif()
    set(${version_out} ${version} PARENT_SCOPE)
    set(${commit_out} ${commit} PARENT_SCOPE)
endfunction()
