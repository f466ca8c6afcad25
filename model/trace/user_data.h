// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

/// What a person added to a recording: a note at an instant or a range, a name for a range, a filter to use
/// again, categories of his own, or how the window arranges what it shows.
struct UserItem {
    enum class Kind : std::uint8_t { Note, Range, Filter, Rules, View };
    /// Of the rules: there is one set of them, and later ones replace it.
    static constexpr std::uint64_t kRulesKey = 1;
    static constexpr std::uint64_t kViewKey = 2; ///< likewise

    Kind kind = Kind::Note;
    std::uint64_t key = 0; ///< drawn at random when it was made: which one it is, for ever
    std::int64_t changedNs = 0; ///< since the epoch
    int device = 0;
    EventIndex first = -1, last = -1; ///< both kept; the same: an instant; of what is placed
    std::uint64_t address = 0; ///< of the block that a note is about; 0: none
    std::string text; ///< of a note; the name of a range or a filter
    /// As JSON: of a filter (model/session/filter_text.h), of rules
    /// (model/analysis/training/roles/category_rules.h), of a view (views/models/document/track_order.h).
    std::string conditions;

    /// It is about an instant or a range.
    [[nodiscard]] bool isPlaced() const { return kind == Kind::Note || kind == Kind::Range; }

    /// It is something to read or to use again, so that lists have it.
    [[nodiscard]] bool isListed() const { return kind != Kind::View; }

    friend bool operator==(const UserItem&, const UserItem&) = default;
};

/// All of them, in the order in which they were made. A value.
struct UserData {
    std::vector<UserItem> items;
    std::optional<std::uint64_t> unreadFrom; ///< byte of the file from which on user data was not readable

    /// Replaces the item of that key, or adds it.
    void set(UserItem item);
    void remove(std::uint64_t key, std::int64_t changedNs = 0);
    /// Takes over what `other` knows later: for two files of one recording.
    void merge(const UserData& other);
    [[nodiscard]] const UserItem* find(std::uint64_t key) const;
    /// What lists have, in their order: by device and position; what has none last.
    [[nodiscard]] std::vector<UserItem> listed() const;
    /// The JSON of the user's own categories; empty: there are none.
    [[nodiscard]] const std::string& rules() const;
    void setRules(std::string json, std::int64_t changedNs); ///< empty: none any more
    [[nodiscard]] const std::string& view() const; ///< how things are arranged, as JSON; empty: as they come
    void setView(std::string json, std::int64_t changedNs);

    friend bool operator==(const UserData& a, const UserData& b) { return a.items == b.items; }

private:
    [[nodiscard]] const std::string& only(UserItem::Kind kind, std::uint64_t key) const;
    void setOnly(UserItem::Kind kind, std::uint64_t key, std::string json, std::int64_t changedNs);
    [[nodiscard]] std::int64_t changedNs(std::uint64_t key) const; ///< INT64_MIN: it never was there

    std::vector<std::pair<std::uint64_t, std::int64_t>> m_removed; // keys, and when
};

} // namespace strata::model
