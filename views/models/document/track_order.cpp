// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/track_order.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace strata::views {

namespace {

constexpr qsizetype kMostLanes = 10'000; // that are read: a file may say anything

std::vector<std::string> keysOf(const QJsonValue& list)
{
    std::vector<std::string> keys;
    const QJsonArray all = list.toArray();
    for (qsizetype i = 0; i < std::min(all.size(), kMostLanes); ++i)
        if (std::string key = all[i].toString().toStdString(); !key.empty())
            keys.push_back(std::move(key));
    return keys;
}

QJsonArray listOf(const std::vector<std::string>& keys)
{
    QJsonArray list;
    for (const std::string& key : keys)
        list.append(QString::fromStdString(key));
    return list;
}

} // namespace

TrackOrder TrackOrder::fromText(const std::string& json)
{
    const QJsonObject lanes = QJsonDocument::fromJson(QByteArray::fromStdString(json))
                                  .object()
                                  .value(QLatin1String("lanes"))
                                  .toObject();
    return { keysOf(lanes.value(QLatin1String("pinned"))), keysOf(lanes.value(QLatin1String("order"))) };
}

std::string TrackOrder::text() const
{
    if (empty())
        return {};
    const QJsonObject lanes{ { QStringLiteral("pinned"), listOf(pinned) },
        { QStringLiteral("order"), listOf(order) } };
    return QJsonDocument(QJsonObject{ { QStringLiteral("lanes"), lanes } })
        .toJson(QJsonDocument::Compact)
        .toStdString();
}

TrackOrder::Arranged TrackOrder::arrange(std::span<const std::string> keys) const
{
    Arranged arranged;
    if (empty()) {
        arranged.lanes.resize(keys.size());
        std::iota(arranged.lanes.begin(), arranged.lanes.end(), std::size_t{ 0 });
        return arranged;
    }
    std::vector<bool> isPlaced(keys.size());
    const auto place = [&](const std::vector<std::string>& wanted) {
        for (const std::string& key : wanted) {
            const auto lane = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
            if (lane < keys.size() && !isPlaced[lane]) {
                isPlaced[lane] = true;
                arranged.lanes.push_back(lane);
            }
        }
    };
    place(pinned);
    arranged.pinned = arranged.lanes.size();
    place(order);
    for (std::size_t lane = 0; lane < keys.size(); ++lane) {
        if (isPlaced[lane])
            continue;
        // Behind the nearest before it that is not pinned; those are placed by now.
        auto at = arranged.lanes.begin() + static_cast<std::ptrdiff_t>(arranged.pinned);
        for (std::size_t before = lane; before-- > 0;)
            if (const auto found = std::find(at, arranged.lanes.end(), before);
                found != arranged.lanes.end()) {
                at = std::next(found);
                break;
            }
        arranged.lanes.insert(at, lane);
    }
    return arranged;
}

TrackOrder TrackOrder::of(std::span<const std::string> keys, const Arranged& arranged)
{
    TrackOrder order;
    bool isTheirOwn = arranged.pinned == 0;
    for (std::size_t place = 0; place < arranged.lanes.size(); ++place) {
        const std::size_t lane = arranged.lanes[place];
        (place < arranged.pinned ? order.pinned : order.order).push_back(keys[lane]);
        isTheirOwn = isTheirOwn && lane == place;
    }
    return isTheirOwn ? TrackOrder() : order;
}

TrackOrder TrackOrder::moved(std::span<const std::string> keys, std::size_t lane, std::size_t place) const
{
    Arranged arranged = arrange(keys);
    const auto from = std::ranges::find(arranged.lanes, lane);
    if (from == arranged.lanes.end())
        return *this;
    const bool isPinned = std::cmp_less(from - arranged.lanes.begin(), arranged.pinned);
    arranged.lanes.erase(from);
    const std::size_t to = std::clamp(
        place, isPinned ? 0 : arranged.pinned, isPinned ? arranged.pinned - 1 : arranged.lanes.size());
    arranged.lanes.insert(arranged.lanes.begin() + static_cast<std::ptrdiff_t>(to), lane);
    return of(keys, arranged);
}

TrackOrder TrackOrder::withPinned(std::span<const std::string> keys, std::size_t lane, bool isPinned) const
{
    Arranged arranged = arrange(keys);
    const auto from = std::ranges::find(arranged.lanes, lane);
    if (from == arranged.lanes.end()
        || std::cmp_less(from - arranged.lanes.begin(), arranged.pinned) == isPinned)
        return *this;
    arranged.lanes.erase(from);
    if (!isPinned)
        --arranged.pinned;
    arranged.lanes.insert(arranged.lanes.begin() + static_cast<std::ptrdiff_t>(arranged.pinned), lane);
    if (isPinned)
        ++arranged.pinned;
    return of(keys, arranged);
}

} // namespace strata::views
