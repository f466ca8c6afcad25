# Tests in Python that run real programs with PyTorch on the simulated device.

# strata_torch_test(NAME MODULE GROUP [SECONDS N] [PROCESSORS N] [JOBS N] [LONG_ALONE])
#
# Makes two tests of a module of pytest. NAME has the label "torch" and is the short form, which runs on every commit. NAME_long has the
# labels "long" and "long-GROUP" and is the long form (STRATA_LONG=1, see tests/truth/tests/running.py): every seed, program and PyTorch.
#   SECONDS     that the short form takes: the longest begin first. After 900 s it is ended, the long form after 5,400
#   PROCESSORS  that the programs of the short form keep busy at once, by themselves
#   JOBS        how many programs the long form may start at once, where the module asks jobs() of running.py
#   LONG_ALONE  the module has no short form
function(strata_torch_test name module group)
  cmake_parse_arguments(arg "LONG_ALONE" "SECONDS;PROCESSORS;JOBS" "" ${ARGN})
  foreach(default SECONDS=1 PROCESSORS=1 JOBS=1)
    string(REGEX MATCH "([A-Z]+)=([0-9]+)" _ ${default})
    if(NOT arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${name}: ${arg_UNPARSED_ARGUMENTS} is no option of strata_torch_test()")
  endif()
  set(path ${PROJECT_SOURCE_DIR}/tests/truth/tests/${module})
  set(processors ${arg_JOBS})
  if(arg_PROCESSORS GREATER processors)
    set(processors ${arg_PROCESSORS})
  endif()
  if(NOT arg_LONG_ALONE)
    strata_add_pytest(${name} ${path})
    set_tests_properties(${name} PROPERTIES LABELS torch TIMEOUT 900 COST ${arg_SECONDS} PROCESSORS ${arg_PROCESSORS}
      ENVIRONMENT "STRATA_JOBS=1;STRATA_BUILD=${CMAKE_BINARY_DIR}")
  endif()
  strata_add_pytest(${name}_long ${path})
  set_tests_properties(${name}_long PROPERTIES LABELS "long;long-${group}" TIMEOUT 5400 COST ${arg_SECONDS} PROCESSORS ${processors}
    ENVIRONMENT "STRATA_LONG=1;STRATA_JOBS=${arg_JOBS};STRATA_BUILD=${CMAKE_BINARY_DIR}")
endfunction()

# strata_add_pytest(NAME MODULE): an entry of ctest.
function(strata_add_pytest name module)
  add_test(NAME ${name} COMMAND ${STRATA_PYTEST} -q -p no:cacheprovider ${module} --build ${CMAKE_BINARY_DIR}
    --junit-xml ${CMAKE_BINARY_DIR}/cases/${name}.xml)
endfunction()
