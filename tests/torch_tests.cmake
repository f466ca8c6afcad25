# Tests in Python that run real programs with PyTorch on the simulated device.

# strata_torch_test(NAME MODULE GROUP [TIMEOUT SECONDS] [PROCESSORS N] [JOBS N] [LONG_ALONE])
#
# Makes two tests of a module of pytest. NAME has the label "torch" and is the short form, which runs on every commit. NAME_long has the
# labels "long" and "long-GROUP" and is the long form (STRATA_LONG=1, see tests/truth/tests/running.py): every seed, program and PyTorch.
#   TIMEOUT     of the short form: several times what it takes on a busy machine, 120 s at least
#   PROCESSORS  that the programs of the short form keep busy at once, by themselves
#   JOBS        how many programs the long form may start at once, where the module asks jobs() of running.py
#   LONG_ALONE  the module has no short form
function(strata_torch_test name module group)
  cmake_parse_arguments(arg "LONG_ALONE" "TIMEOUT;PROCESSORS;JOBS" "" ${ARGN})
  foreach(default TIMEOUT=900 PROCESSORS=1 JOBS=1)
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
  foreach(form short long)
    if(form STREQUAL "long" OR NOT arg_LONG_ALONE)
      set(test ${name})
      set(properties LABELS torch TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS} ENVIRONMENT "STRATA_JOBS=1;STRATA_BUILD=${CMAKE_BINARY_DIR}")
      if(form STREQUAL "long")
        set(test ${name}_long)
        set(properties LABELS "long;long-${group}" TIMEOUT 5400 PROCESSORS ${processors} ENVIRONMENT "STRATA_LONG=1;STRATA_JOBS=${arg_JOBS};STRATA_BUILD=${CMAKE_BINARY_DIR}")
      endif()
      add_test(NAME ${test} COMMAND ${STRATA_PYTEST} -q -p no:cacheprovider ${path} --build ${CMAKE_BINARY_DIR}
        --junit-xml ${CMAKE_BINARY_DIR}/cases/${test}.xml)
      # The longest begin first, so that none is left alone at the end; other tests take no second, mostly.
      set_tests_properties(${test} PROPERTIES COST ${arg_TIMEOUT} ${properties})
    endif()
  endforeach()
endfunction()
