# Tests in Python that run real programs with PyTorch on the simulated device.

# strata_torch_test(NAME SCRIPT GROUP [TIMEOUT SECONDS] [PROCESSORS N] [JOBS N] [LONG_ALONE] PROGRAM...)
#
# Makes two tests of a script. NAME has the label "torch" and is the short form, which runs on every commit. NAME_long has the labels
# "long" and "long-GROUP" and is the long form (STRATA_LONG=1, see tests/integration/dryrun/running.py): every seed, program and
# PyTorch. A script exits with 77 where it was skipped, all of it or a part.
#   TIMEOUT     of the short form: three times what it takes, 120 s at least; 900 s until it was measured
#   PROCESSORS  that the programs of the short form keep busy at once, by themselves
#   JOBS        how many programs the long form may start at once, where the script asks jobs() of running.py
#   LONG_ALONE  the script has no short form
function(strata_torch_test name script group)
  cmake_parse_arguments(arg "LONG_ALONE" "TIMEOUT;PROCESSORS;JOBS" "" ${ARGN})
  foreach(default TIMEOUT=900 PROCESSORS=1 JOBS=1)
    string(REGEX MATCH "([A-Z]+)=([0-9]+)" _ ${default})
    if(NOT arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  set(command ${STRATA_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_UNPARSED_ARGUMENTS})
  if(NOT arg_LONG_ALONE)
    add_test(NAME ${name} COMMAND ${command})
    # The longest begin first, so that none is left alone at the end; other tests take no second, mostly.
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS torch TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT}
      PROCESSORS ${arg_PROCESSORS} ENVIRONMENT "STRATA_JOBS=1")
  endif()
  set(processors ${arg_JOBS})
  if(arg_PROCESSORS GREATER processors)
    set(processors ${arg_PROCESSORS})
  endif()
  add_test(NAME ${name}_long COMMAND ${command})
  set_tests_properties(${name}_long PROPERTIES SKIP_RETURN_CODE 77 LABELS "long;long-${group}" TIMEOUT 5400 COST ${arg_TIMEOUT}
    PROCESSORS ${processors} ENVIRONMENT "STRATA_LONG=1;STRATA_JOBS=${arg_JOBS}")
endfunction()
