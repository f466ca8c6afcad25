// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/catalogue.h"

#include "model/base/spelling.h"
#include "model/cards/devices_json.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

std::string lowerCased(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

/// What is left of a driver's name without the maker's, in lower case.
std::string plainProduct(std::string_view product)
{
    std::string plain = lowerCased(product);
    for (const std::string_view maker : { "nvidia ", "tesla ", "geforce " })
        if (plain.starts_with(maker))
            plain.erase(0, maker.size());
    return plain;
}

/// Drivers keep some of the memory to themselves, and PyTorch says what is left.
bool isCapacity(std::int64_t totalBytes, std::int64_t capacityBytes)
{
    const double share = static_cast<double>(totalBytes) / static_cast<double>(capacityBytes);
    return totalBytes <= 0 || (share > 0.9 && share < 1.1);
}

struct Catalogue {
    std::vector<Card> cards;
    std::vector<Assumption> assumptions;
};

/// The text is part of the program, and a test reads it: it is what at() expects.
Catalogue readCatalogue()
{
    Catalogue out;
    const nlohmann::json catalogue = nlohmann::json::parse(kDevicesJson);
    for (const auto& entry : catalogue.at("devices")) {
        Card& card = out.cards.emplace_back();
        card.name = entry.at("name");
        card.product = entry.at("product");
        card.capacityBytes = entry.at("capacity_bytes");
        card.capacitySource = entry.at("capacity_source");
        const std::string capability = entry.at("compute_capability");
        const auto dot = capability.find('.');
        card.computeMajor = std::stoi(capability.substr(0, dot));
        card.computeMinor = std::stoi(capability.substr(dot + 1));
        card.multiprocessors = entry.at("multiprocessors");
        card.l2Bytes = entry.at("l2_bytes");
        card.memoryBusBits = entry.at("memory_bus_bits");
        card.bandwidth = entry.at("bandwidth_gbytes").get<double>() * 1e9;
        for (int i = 0; i < kNumberTypes; ++i)
            card.flops[static_cast<std::size_t>(i)]
                = entry.at("tflops").value(numberTypeWord(static_cast<NumberType>(i)), 0.0) * 1e12;
        card.clockHeadroom = entry.value("clock_headroom", 1.0);
        card.peakSource = entry.at("source");
    }
    for (const auto& entry : catalogue.at("assumptions"))
        out.assumptions.push_back({ entry.at("name"), entry.at("each"), entry.at("low_bytes"),
            entry.at("high_bytes"), entry.at("counted_bytes"), entry.at("source") });
    return out;
}

const Catalogue& catalogue()
{
    static const Catalogue read = readCatalogue();
    return read;
}

} // namespace

std::string_view numberTypeWord(NumberType type)
{
    switch (type) {
    case NumberType::Fp64:
        return "fp64";
    case NumberType::Fp32:
        return "fp32";
    case NumberType::Tf32:
        return "tf32";
    case NumberType::Fp16:
        return "fp16";
    case NumberType::Bf16:
        return "bf16";
    case NumberType::Fp8:
        return "fp8";
    case NumberType::Other:
        break;
    }
    return "other";
}

const std::vector<Card>& cards()
{
    return catalogue().cards;
}

const std::vector<Assumption>& assumptions()
{
    return catalogue().assumptions;
}

const Card* findCard(std::string_view name)
{
    const std::string wanted = lowerCased(name);
    const auto found = std::find_if(
        cards().begin(), cards().end(), [&](const Card& card) { return lowerCased(card.name) == wanted; });
    return found == cards().end() ? nullptr : &*found;
}

const Card* cardOfDevice(std::string_view product, std::int64_t totalBytes)
{
    const std::string wanted = plainProduct(product);
    const auto found = std::find_if(cards().begin(), cards().end(), [&](const Card& card) {
        return plainProduct(card.product) == wanted && isCapacity(totalBytes, card.capacityBytes);
    });
    return found == cards().end() ? nullptr : &*found;
}

std::vector<std::string> nearestCards(std::string_view name)
{
    const std::string wanted = lowerCased(name);
    std::vector<std::string> names;
    for (const Card& card : cards())
        names.push_back(card.name);
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return editDistance(lowerCased(a), wanted) < editDistance(lowerCased(b), wanted);
    });
    names.resize(std::min<std::size_t>(names.size(), 3));
    return names;
}

} // namespace strata::model
