// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/user_data.h"

#include <algorithm>
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

void UserData::remove(std::uint64_t key)
{
    std::erase_if(items, [key](const UserItem& item) { return item.key == key; });
}

const UserItem* UserData::find(std::uint64_t key) const
{
    const auto known = std::ranges::find(items, key, &UserItem::key);
    return known == items.end() ? nullptr : &*known;
}

} // namespace strata::model
