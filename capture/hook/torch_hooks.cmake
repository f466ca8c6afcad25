# SPDX-License-Identifier: Apache-2.0
# Hooks for the PyTorch environments that lie on this machine, to go with the product: `strata record` makes any other
# when it is first needed, in the same way. One serves a minor version and the ABI of its strings.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(strata_torch_default "$ENV{XDG_CACHE_HOME}/strata")
else()
  set(strata_torch_default "$ENV{HOME}/.cache/strata")
endif()
set(STRATA_TORCH_HEADERS "${strata_torch_default}" CACHE PATH "Where torch-VERSION/lib/python3.N/site-packages/torch are")

set(strata_torch_hooks)
file(GLOB strata_torch_here CONFIGURE_DEPENDS "${STRATA_TORCH_HEADERS}/torch-*/lib/python3*/site-packages/torch/version.py")
file(GLOB strata_hook_sources CONFIGURE_DEPENDS *.cpp *.h cuda/*.h)
foreach(version_file IN LISTS strata_torch_here)
  cmake_path(GET version_file PARENT_PATH torch)
  file(STRINGS "${version_file}" line REGEX "^__version__ = '[0-9.]+(\\+.*)?'")
  # The last that an installer writes of what is read here may be missing yet.
  if(NOT line OR NOT EXISTS "${torch}/include/c10/cuda/CUDACachingAllocator.h"
      OR NOT EXISTS "${torch}/share/cmake/Torch/TorchConfig.cmake")
    continue()
  endif()
  string(REGEX MATCH "[0-9]+\\.[0-9]+" minor "${line}")
  file(STRINGS "${torch}/share/cmake/Torch/TorchConfig.cmake" line REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  set(abi 1)
  if(line)
    set(abi 0)
  endif()
  set(hook ${CMAKE_BINARY_DIR}/lib/strata/libstrata_torch${minor}-abi${abi}.so)
  if(hook IN_LIST strata_torch_hooks)
    continue()
  endif()
  add_custom_command(OUTPUT ${hook} DEPENDS strata-hook ${strata_hook_sources}
    COMMAND ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER}" $<TARGET_FILE:strata-hook> ${torch}/lib ${hook}
    COMMENT "Compiling the hook for torch ${minor}")
  list(APPEND strata_torch_hooks ${hook})
  list(APPEND strata_torch_found ${minor})
endforeach()
add_custom_target(strata_torch_hooks ALL DEPENDS ${strata_torch_hooks})
install(FILES ${strata_torch_hooks} DESTINATION ${CMAKE_INSTALL_LIBDIR}/strata COMPONENT capture OPTIONAL)
list(JOIN strata_torch_found ", " strata_torch_found)
add_feature_info(hooks strata_torch_found "built for torch ${strata_torch_found}; others are made when first needed")
