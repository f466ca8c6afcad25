# What every target of the project shares, and the three ways to declare one.

add_library(strata_options INTERFACE)
target_include_directories(strata_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(strata_options INTERFACE STRATA_VERSION="${PROJECT_VERSION}")
target_compile_options(strata_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wno-missing-field-initializers $<$<BOOL:${STRATA_WERROR}>:-Werror>)
# In a unity build gcc takes a source's anonymous namespace for one of a header.
target_compile_options(strata_options INTERFACE "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>")
# Without the time in it, a precompiled header is the same when it is made anew, and the compiler cache knows what uses it.
target_compile_options(strata_options INTERFACE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
if(STRATA_SANITIZE)
  target_compile_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
  # Of a hundred executables with all that debugging needs, each takes seconds with the linker that compilers bring.
  find_program(STRATA_MOLD mold)
  mark_as_advanced(STRATA_MOLD)
  if(STRATA_MOLD)
    target_link_options(strata_options INTERFACE -fuse-ld=mold)
  endif()
endif()
if(STRATA_FUZZ)
  target_compile_options(strata_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(strata_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# strata_library(NAME SOURCES ... PUBLIC ... PRIVATE ...): one static library of one layer. Its link list is its licence to include.
function(strata_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC strata_options ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
