// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/catalogue.h"

#include "app/cli/dryrun/devices_json.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>

namespace strata::cli {

namespace {

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

std::vector<Card> readCards()
{
    std::vector<Card> out;
    const nlohmann::json catalogue = nlohmann::json::parse(kDevicesJson);
    for (const auto& entry : catalogue.at("devices")) {
        Card card;
        card.name = entry.at("name");
        card.product = entry.at("product");
        card.capacityBytes = entry.at("capacity_bytes");
        const std::string capability = entry.at("compute_capability");
        const auto dot = capability.find('.');
        card.computeMajor = std::stoi(capability.substr(0, dot));
        card.computeMinor = std::stoi(capability.substr(dot + 1));
        card.multiprocessors = entry.at("multiprocessors");
        card.l2Bytes = entry.at("l2_bytes");
        card.memoryBusBits = entry.at("memory_bus_bits");
        out.push_back(std::move(card));
    }
    return out;
}

std::vector<Assumption> readAssumptions()
{
    std::vector<Assumption> out;
    const nlohmann::json catalogue = nlohmann::json::parse(kDevicesJson);
    for (const auto& entry : catalogue.at("assumptions"))
        out.push_back({ entry.at("name"), entry.at("each"), entry.at("low_bytes"), entry.at("high_bytes"),
            entry.at("counted_bytes"), entry.at("source") });
    return out;
}

/// Insertions, deletions and replacements between two words.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({ replaced, row[j] + 1, row[j + 1] + 1 });
        }
    }
    return row.back();
}

} // namespace

const std::vector<Card>& cards()
{
    static const std::vector<Card> all = readCards();
    return all;
}

const std::vector<Assumption>& assumptions()
{
    static const std::vector<Assumption> all = readAssumptions();
    return all;
}

const Card* findCard(std::string_view name)
{
    const std::string wanted = lower(name);
    const auto found = std::find_if(
        cards().begin(), cards().end(), [&](const Card& card) { return lower(card.name) == wanted; });
    return found == cards().end() ? nullptr : &*found;
}

std::vector<std::string> nearestCards(std::string_view name)
{
    const std::string wanted = lower(name);
    std::vector<std::string> names;
    for (const Card& card : cards())
        names.push_back(card.name);
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return distance(lower(a), wanted) < distance(lower(b), wanted);
    });
    names.resize(std::min<std::size_t>(names.size(), 3));
    return names;
}

} // namespace strata::cli
