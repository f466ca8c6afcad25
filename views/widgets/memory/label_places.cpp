// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/label_places.h"

#include <algorithm>
#include <numeric>

namespace strata::views {

namespace {

/// Labels that touch, placed as one: the mean of what they want.
struct Cluster {
    double wanted = 0; // the sum of where the first label would have to stand (its top)
    double height = 0;
    int labels = 0;
    [[nodiscard]] double top() const { return wanted / labels; }
};

} // namespace

std::vector<double> placeLabels(const std::vector<WantedLabel>& labels, double top, double bottom, double gap)
{
    std::vector<double> places(labels.size(), kNoPlace);
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0);
    double room = bottom - top + gap;
    std::stable_sort(order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return labels[a].priority < labels[b].priority; });
    std::erase_if(order, [&](std::size_t i) {
        const bool fits = labels[i].height + gap <= room;
        if (fits)
            room -= labels[i].height + gap;
        return !fits;
    });
    std::stable_sort(order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return labels[a].centre < labels[b].centre; });

    std::vector<Cluster> clusters;
    for (const std::size_t i : order) {
        const double height = labels[i].height + gap;
        Cluster cluster{ labels[i].centre - labels[i].height / 2, height, 1 };
        const auto clampTop = [&](Cluster& c) {
            c.wanted = std::clamp(c.top(), top, std::max(top, bottom + gap - c.height)) * c.labels;
        };
        clampTop(cluster);
        while (!clusters.empty() && clusters.back().top() + clusters.back().height > cluster.top()) {
            const Cluster& upper = clusters.back();
            // What the lower cluster wants of the common top: its own, less the height of the upper one.
            cluster = { upper.wanted + cluster.wanted - cluster.labels * upper.height,
                upper.height + cluster.height, upper.labels + cluster.labels };
            clampTop(cluster);
            clusters.pop_back();
        }
        clusters.push_back(cluster);
    }
    std::size_t next = 0;
    for (const Cluster& cluster : clusters) {
        double at = cluster.top();
        for (int k = 0; k < cluster.labels; ++k) {
            const std::size_t i = order[next++];
            places[i] = at + labels[i].height / 2;
            at += labels[i].height + gap;
        }
    }
    return places;
}

std::vector<bool> labelsThatFit(
    const std::vector<std::pair<double, double>>& extents, double left, double right, double gap)
{
    std::vector<bool> fits(extents.size(), false);
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i].first < left || extents[i].second > right)
            continue;
        fits[i] = true;
        for (std::size_t j = 0; j < i && fits[i]; ++j)
            if (fits[j])
                fits[i] = extents[i].second + gap <= extents[j].first
                    || extents[j].second + gap <= extents[i].first;
    }
    return fits;
}

} // namespace strata::views
