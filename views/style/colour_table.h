// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::views {

/// The colours that the names of one picture have, for as long as anybody holds it. Immutable.
struct NamedColours {
    std::string kind;
    std::vector<int>
        colours; ///< by place: for Palette::group(); from kGroupColours on it is the place, and no colour
    std::map<std::string, int, std::less<>> byName; ///< of those that have a colour
};

/// Which colour a name has in one window, whatever the document and the device. A name takes a colour by its
/// share and keeps it while a document with it is open; in another picture of the same kind it has the same
/// one, unless a larger name there has it already: the kGroupColours largest of a picture always differ from
/// each other.
///
///     place in the picture       1   2   3  ...  12 | 13 ...
///     as in the picture before   a       c          |           keeps what it had there
///     as in others that are open     b              |           if nobody above took it
///     the lowest that is free             x  y  z   | no colour of its own
///
/// One a window. Safe from any thread.
class ColourTable {
public:
    static constexpr int kGroupColours = 12; ///< as many as palette.json has

    /// Colours for the names of a picture, largest share first; names may repeat. `kind` says what they name:
    /// a grouping. `before` is the picture that this one takes the place of. O(names + pictures that are
    /// open).
    [[nodiscard]] std::shared_ptr<const NamedColours> assign(std::string_view kind,
        std::span<const std::string_view> largestFirst, const NamedColours* before = nullptr);

private:
    friend class DocumentColours;
    void add(const std::shared_ptr<const NamedColours>& picture);

    std::mutex m_mutex;
    std::vector<std::weak_ptr<const NamedColours>> m_open; // in the order of their coming
};

/// The colours of one document in its window, for as long as this lives. A picture whose names were others
/// for a while, or which was not shown, has those back that it had. Safe from any thread.
class DocumentColours {
public:
    /// nullptr: in a window of its own.
    explicit DocumentColours(std::shared_ptr<ColourTable> window);

    /// By place, for the picture of that kind of a device: see ColourTable::assign().
    [[nodiscard]] std::vector<int> assign(
        std::string_view kind, int device, std::span<const std::string_view> largestFirst);

private:
    const std::shared_ptr<ColourTable> m_window;
    std::mutex m_mutex;
    std::map<std::pair<std::string, int>, std::shared_ptr<const NamedColours>> m_kept; // by kind and device
};

} // namespace strata::views
