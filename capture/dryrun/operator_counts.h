// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::dryrun {

/// Operators that launched work, those with the same name and inputs together, and what went over the wire.
/// One thread at a time. Throws std::bad_alloc alone.
class OperatorCounts {
public:
    struct Collective {
        std::uint64_t calls = 0;
        std::uint64_t bytes = 0; ///< that this rank handed over
    };
    using Collectives = std::map<std::string, Collective>;

    /// `inputs` are members of a JSON object, as hook::Operator has them.
    void add(std::string_view name, std::string_view inputs, std::uint64_t launches);
    void addLaunches(std::uint64_t launches) { m_launches += launches; }
    void addCollective(const std::string& name, Collective collective);
    /// All of another.
    void add(const OperatorCounts& other);

    /// By operators and outside of them: kernels of programs' own, graphs that are replayed.
    [[nodiscard]] std::uint64_t launches() const { return m_launches; }
    [[nodiscard]] bool empty() const { return m_launches == 0 && m_collectives.empty(); }

    /// Members of a JSON object: "launches", "operators" and "collectives"; by name and inputs, so that the
    /// same counts are the same text.
    [[nodiscard]] std::string json() const;

private:
    struct Count {
        std::uint64_t calls = 0;
        std::uint64_t launches = 0;
    };

    std::unordered_map<std::string, Count> m_operators; ///< by the JSON of name and inputs
    Collectives m_collectives;
    std::uint64_t m_launches = 0;
};

} // namespace strata::dryrun
