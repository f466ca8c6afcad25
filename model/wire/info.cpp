// SPDX-License-Identifier: Apache-2.0
#include "model/wire/info.h"

#include <charconv>
#include <csignal>

namespace strata::wire {

namespace {

constexpr const char* kMinorVersion = "1"; // 0 had no digests and no user data

} // namespace

std::string deviceKey(std::string_view prefix, std::int32_t device, std::string_view field)
{
    return std::string(prefix) + std::to_string(device) + "." + std::string(field);
}

std::optional<DeviceKey> deviceKeyOf(std::string_view key, std::string_view prefix)
{
    if (!key.starts_with(prefix))
        return std::nullopt;
    const char* const end = key.data() + key.size();
    DeviceKey found;
    const auto [dot, error] = std::from_chars(key.data() + prefix.size(), end, found.device);
    if (error != std::errc() || dot == end || *dot != '.')
        return std::nullopt;
    found.field = { dot + 1, static_cast<std::size_t>(end - dot - 1) };
    return found;
}

std::string numberText(double value)
{
    char digits[32];
    return { digits, std::to_chars(digits, digits + sizeof digits, value).ptr };
}

std::string endedBy(int signal)
{
    static constexpr std::pair<int, const char*> kNames[] = { { 0, "_exit" }, { SIGABRT, "SIGABRT" },
        { SIGALRM, "SIGALRM" }, { SIGPIPE, "SIGPIPE" }, { SIGQUIT, "SIGQUIT" }, { SIGUSR1, "SIGUSR1" },
        { SIGUSR2, "SIGUSR2" }, { SIGXCPU, "SIGXCPU" }, { SIGBUS, "SIGBUS" }, { SIGFPE, "SIGFPE" },
        { SIGHUP, "SIGHUP" }, { SIGILL, "SIGILL" }, { SIGINT, "SIGINT" }, { SIGSEGV, "SIGSEGV" },
        { SIGSYS, "SIGSYS" }, { SIGTERM, "SIGTERM" }, { SIGTRAP, "SIGTRAP" } };
    for (const auto& [number, name] : kNames)
        if (number == signal)
            return name;
    return "signal " + std::to_string(signal);
}

std::vector<KeyValue> introduction()
{
    return { { info::kMinor, kMinorVersion }, { info::kCreator, "strata " STRATA_VERSION } };
}

} // namespace strata::wire
