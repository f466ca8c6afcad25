# SPDX-License-Identifier: Apache-2.0
# The LibTorch versions that recordings can be made of: a new one is a new line here. A hook needs headers alone, those
# of the wheel and of the CUDA runtime, where tests/truth/environment.sh keeps them. Others that lie there get one too.
set(STRATA_TORCH_VERSIONS
  2.4.0
  2.6.0
  2.8.0
  2.11.0
  2.15.0)

if(DEFINED ENV{XDG_CACHE_HOME})
  set(strata_torch_default "$ENV{XDG_CACHE_HOME}/strata")
else()
  set(strata_torch_default "$ENV{HOME}/.cache/strata")
endif()
set(STRATA_TORCH_HEADERS "${strata_torch_default}" CACHE PATH "Where torch-VERSION and headers-CUDA are")

file(GLOB strata_torch_here RELATIVE "${STRATA_TORCH_HEADERS}" CONFIGURE_DEPENDS "${STRATA_TORCH_HEADERS}/torch-*/lib")
foreach(folder IN LISTS strata_torch_here)
  string(REGEX REPLACE "^torch-(.*)/lib$" "\\1" version "${folder}")
  list(APPEND STRATA_TORCH_VERSIONS ${version})
endforeach()
list(REMOVE_DUPLICATES STRATA_TORCH_VERSIONS)

set(strata_torch_missing)
add_custom_target(strata_torch_hooks)
foreach(version IN LISTS STRATA_TORCH_VERSIONS)
  file(GLOB torch "${STRATA_TORCH_HEADERS}/torch-${version}/lib/python3*/site-packages/torch")
  set(cuda)
  if(torch AND EXISTS "${torch}/version.py" AND EXISTS "${torch}/include/c10/cuda/CUDACachingAllocator.h")
    file(STRINGS "${torch}/version.py" line REGEX "^cuda")
    string(REGEX MATCH "'([0-9]+)\\." matched "${line}")
    file(GLOB cuda "${STRATA_TORCH_HEADERS}/headers-${CMAKE_MATCH_1}/nvidia/*/include")
  endif()
  if(NOT cuda)
    list(APPEND strata_torch_missing ${version})
    continue()
  endif()
  file(STRINGS "${torch}/share/cmake/Torch/TorchConfig.cmake" line REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(line)
    set(abi 0)
  else()
    set(abi 1)
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${version}")
  # The name says the minor version and how its std::string lies in memory.
  set(name strata_torch${minor}-abi${abi})
  if(TARGET ${name})
    continue()
  endif()
  add_library(${name} MODULE torch_hook.cpp)
  target_compile_definitions(${name} PRIVATE STRATA_TORCH_VERSION="${version}" _GLIBCXX_USE_CXX11_ABI=${abi})
  # A name that is not there cannot be asked for in C++.
  set(host "${torch}/include/ATen/core/CachingHostAllocator.h")
  if(EXISTS "${host}")
    file(STRINGS "${host}" line REGEX "getHostAllocator\\(")
    if(line)
      target_compile_definitions(${name} PRIVATE STRATA_TORCH_HOST_ALLOCATOR)
    endif()
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE "${torch}/include" ${cuda})
  # At least -O1: inline functions that nobody calls would ask for LibTorch. Its own C++ library must be used.
  target_compile_options(${name} PRIVATE -Wall -Wextra -O2)
  target_link_options(${name} PRIVATE -Wl,-z,defs)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/strata)
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/strata)
  add_dependencies(strata_torch_hooks ${name})
  list(APPEND strata_torch_found ${version})
endforeach()
list(JOIN strata_torch_missing ", " strata_torch_missing)
add_feature_info(recording strata_torch_found
  "of torch ${strata_torch_found}; no headers of torch ${strata_torch_missing} (tests/truth/environment.sh loads them)")
