// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <typeindex>

namespace strata::model {

/// What else a recording holds: at most one object of each type, which its kind of chunk declares
/// (model/chunks). So a new kind needs no new member of Recording. A copy is a snapshot, as of a Column: the
/// original changes a copy of what it shows.
class Parts {
public:
    /// nullptr: the recording has none.
    template <class Part> [[nodiscard]] const Part* find() const
    {
        const auto found = m_parts.find(typeid(Part));
        return found == m_parts.end() ? nullptr : static_cast<const Part*>(found->second.part.get());
    }
    /// Made when first asked for.
    template <class Part> [[nodiscard]] Part& get()
    {
        Held& held = m_parts[typeid(Part)];
        if (!held.part)
            held.part = std::make_shared<Part>();
        else if (held.shared)
            held.part = std::make_shared<Part>(*static_cast<const Part*>(held.part.get()));
        held.shared = false;
        return *static_cast<Part*>(held.part.get());
    }

private:
    struct Held {
        std::shared_ptr<void> part;
        mutable bool shared = false; // with copies

        Held() = default;
        Held(const Held& other)
            : part(other.part)
            , shared(true)
        {
            if (!other.shared) // copies are copied by any thread
                other.shared = true;
        }
        Held& operator=(const Held&) = delete;
    };

    std::map<std::type_index, Held> m_parts;
};

} // namespace strata::model
