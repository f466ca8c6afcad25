// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace strata::agent {

/// The modules of this process (torch.nn.Module), by address, as Python tells of them when one becomes a part
/// of another: what their paths are, "h.3.attn". Paths of different modules differ: where several are not
/// part of another one, all but the first stand in front of what is in them, by their class. Any thread.
class ModuleTable {
public:
    /// `parent` 0: only its class is told. A module that is part of several is named by the first of those in
    /// the tree that it came into last, as PyTorch's named_parameters() does. Under a name there is one: what
    /// takes it, as a wrapper does, takes it from the one before.
    void add(std::uint64_t module, std::uint64_t parent, std::string name, std::string type);
    /// Its address may become that of another one. Until then, and as long as it is among the last 65,536,
    /// its path is what it was: events that tell of it may still wait.
    void remove(std::uint64_t module);

    /// "h.3.attn"; of one that is no part of another its class; none of one that nobody told of.
    [[nodiscard]] std::optional<std::string> path(std::uint64_t module);
    /// Of what `name` is in it: "h.3.attn.weight"; the bare name in the first that is no part of another.
    [[nodiscard]] std::string nameIn(std::uint64_t module, const std::string& name);

    /// Around a fork.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

    /// Changes whenever a path may have.
    [[nodiscard]] std::uint64_t generation() const { return m_generation.load(std::memory_order_acquire); }

private:
    struct Edge {
        std::uint64_t parent = 0;
        std::string name;
    };
    struct Module {
        std::vector<Edge> edges; ///< in the order in which they were told
        std::map<std::string, std::uint64_t, std::less<>> parts; ///< by the names that they have in it
        std::string type;
        std::uint64_t removal = 0; ///< its number among all removals; 0: it is there
        std::optional<std::string> prefix; ///< of names in it, once it was asked for as a root
    };

    [[nodiscard]] bool isThere(std::uint64_t module, const Module& known, const Edge& edge) const;
    [[nodiscard]] const Edge* edgeOf(std::uint64_t module) const;
    [[nodiscard]] std::uint64_t rootOf(std::uint64_t module) const;
    [[nodiscard]] const std::string& prefixOf(std::uint64_t root);
    void freePrefix(const Module& module);
    /// Under the mutex; without the class of a root.
    [[nodiscard]] std::string place(std::uint64_t module);

    std::mutex m_mutex;
    std::unordered_map<std::uint64_t, Module> m_modules;
    std::unordered_set<std::string> m_prefixes; // of the roots that are there
    std::unordered_map<std::string, int> m_nextNumbers; // by class: those below are mostly taken
    std::deque<std::pair<std::uint64_t, std::uint64_t>> m_removed; // modules, by their removals
    std::uint64_t m_removals = 0;
    std::atomic<std::uint64_t> m_generation{ 0 };
};

} // namespace strata::agent
