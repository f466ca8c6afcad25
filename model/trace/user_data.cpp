// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/user_data.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace strata::model {

void UserData::set(UserItem item)
{
    const auto known = std::ranges::find(items, item.key, &UserItem::key);
    if (known != items.end())
        *known = std::move(item);
    else
        items.push_back(std::move(item));
}

void UserData::remove(std::uint64_t key, std::int64_t changedNs)
{
    std::erase_if(items, [key](const UserItem& item) { return item.key == key; });
    m_removed.emplace_back(key, changedNs);
}

std::int64_t UserData::changedNs(std::uint64_t key) const
{
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    if (const UserItem* const item = find(key))
        latest = item->changedNs;
    for (const auto& [gone, when] : m_removed)
        if (gone == key)
            latest = std::max(latest, when);
    return latest;
}

void UserData::merge(const UserData& other)
{
    for (const UserItem& item : other.items)
        if (item.changedNs > changedNs(item.key))
            set(item);
    for (const auto& [key, when] : other.m_removed)
        if (when >= changedNs(key))
            remove(key, when);
    if (!unreadFrom)
        unreadFrom = other.unreadFrom;
}

const UserItem* UserData::find(std::uint64_t key) const
{
    const auto known = std::ranges::find(items, key, &UserItem::key);
    return known == items.end() ? nullptr : &*known;
}

std::vector<UserItem> UserData::listed() const
{
    std::vector<UserItem> rows;
    std::ranges::copy_if(items, std::back_inserter(rows), &UserItem::isListed);
    std::ranges::stable_sort(rows, {}, [](const UserItem& item) {
        const bool placed = item.isPlaced();
        return std::tuple(!placed, placed ? item.device : 0, placed ? item.first : 0, placed ? item.last : 0);
    });
    return rows;
}

/// Of a kind of which there is one.
const std::string& UserData::only(UserItem::Kind kind, std::uint64_t key) const
{
    static const std::string none;
    const UserItem* const item = find(key);
    return item && item->kind == kind ? item->conditions : none;
}

void UserData::setOnly(UserItem::Kind kind, std::uint64_t key, std::string json, std::int64_t changedNs)
{
    if (json.empty())
        return remove(key, changedNs);
    UserItem item;
    item.kind = kind;
    item.key = key;
    item.changedNs = changedNs;
    item.conditions = std::move(json);
    set(std::move(item));
}

const std::string& UserData::rules() const
{
    return only(UserItem::Kind::Rules, UserItem::kRulesKey);
}

void UserData::setRules(std::string json, std::int64_t changedNs)
{
    setOnly(UserItem::Kind::Rules, UserItem::kRulesKey, std::move(json), changedNs);
}

const std::string& UserData::view() const
{
    return only(UserItem::Kind::View, UserItem::kViewKey);
}

void UserData::setView(std::string json, std::int64_t changedNs)
{
    setOnly(UserItem::Kind::View, UserItem::kViewKey, std::move(json), changedNs);
}

} // namespace strata::model
