// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/symbols.h"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>

namespace strata::agent {

namespace {

/// A return address lies behind the call.
std::uint64_t callOf(std::uint64_t returnAddress)
{
    return returnAddress - 1;
}

} // namespace

std::string demangled(const std::string& name)
{
    if (!name.starts_with("_Z")) // "f" is a type of C++ too
        return name;
    int status = 0;
    char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    std::string out = status == 0 && text ? text : name;
    std::free(text);
    return out;
}

std::uint32_t Symbols::frame(std::uint64_t returnAddress)
{
    const auto known = m_frames.find(returnAddress);
    if (known != m_frames.end())
        return known->second;
    wire::FrameRow row;
    if (const CodePlace place = m_modules.find(callOf(returnAddress)); !place.file.empty()) {
        char offset[32];
        std::snprintf(offset, sizeof offset, "0x%llx",
            static_cast<unsigned long long>(callOf(returnAddress) - place.base));
        row.file = m_numbers.string(place.file);
        row.function = m_numbers.string(place.function.empty() ? "??" : demangled(place.function));
        row.extras = m_numbers.string(std::string("{\"") + wire::extras::kBuildId + "\": \"" + place.buildId
            + "\", \"" + wire::extras::kOffset + "\": \"" + offset + "\"}");
    } else {
        row.file = row.function = m_numbers.string("??");
    }
    const std::uint32_t number = m_numbers.frame(row);
    m_frames.emplace(returnAddress, number);
    return number;
}

bool Symbols::isOwn(std::uint64_t returnAddress)
{
    const auto [known, isNew] = m_own.try_emplace(returnAddress, false);
    if (isNew)
        known->second = m_modules.fileOf(callOf(returnAddress)).find("libstrata_") != std::string::npos;
    return known->second;
}

std::size_t Symbols::ownFrames(std::span<const std::uint64_t> addresses)
{
    constexpr std::size_t kFarthest = 16;
    std::size_t own = 0;
    for (std::size_t i = 0; i < addresses.size() && i < kFarthest; ++i) {
        if (isOwn(addresses[i]))
            own = i + 1;
    }
    return own;
}

} // namespace strata::agent
