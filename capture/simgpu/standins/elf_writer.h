// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace strata::simgpu {

/// What a function of a stand-in does. Each is a few instructions.
struct Behaviour {
    enum class Kind {
        Return, ///< gives `value`
        Zero, ///< writes zeros through arguments, gives 0
        Object, ///< gives an object that nobody looks into through its first argument
        Work, ///< tells the core its name and its first argument, gives 0
        Unserved, ///< names itself on stderr and fails
    };
    struct Output {
        std::uint8_t argument; ///< counted in words from 0, floating-point arguments left out
        std::uint8_t bytes; ///< 4 or 8
    };

    Kind kind = Kind::Unserved;
    std::int32_t value = 0;
    std::vector<Output> outputs;
};

struct StandInFunction {
    std::string name;
    Behaviour behaviour;
};

/// A shared library to be written.
struct StandIn {
    std::string soname;
    std::string version; ///< node of all its symbols; empty for none
    std::vector<std::string> needed;
    std::vector<StandInFunction> functions;
};

/// The bytes of a shared library for x86-64 Linux that the dynamic loader takes as it takes any other. It
/// imports strata_simgpu_unserved, strata_simgpu_object and strata_simgpu_work.
std::vector<char> assembleStandIn(const StandIn& standIn);

tl::expected<void, std::string> writeStandIn(const std::string& path, const StandIn& standIn);

} // namespace strata::simgpu
