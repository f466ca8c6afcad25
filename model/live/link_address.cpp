// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/link_address.h"

#include "model/wire/link/link_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace strata::model {

namespace {

namespace fs = std::filesystem;

template <class Number> std::optional<Number> parsedNumber(std::string_view text)
{
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

std::optional<uid_t> ownerOf(const std::string& path)
{
    struct stat info { };
    return stat(path.c_str(), &info) == 0 ? std::optional(info.st_uid) : std::nullopt;
}

/// In whatever folder it is.
Result<LinkAddress> findProcess(const std::string& number)
{
    const std::optional<uid_t> owner = ownerOf("/proc/" + number);
    if (!owner)
        return fail(Error::Kind::NotFound, say("there is no process %1", number),
            say("strata list shows those that can be watched"));
    std::string why;
    const uid_t user = geteuid() == 0 ? *owner : geteuid();
    for (const std::string& folder : wire::linkFolders(user, why)) {
        const std::string path = folder + "/" + number + std::string(wire::kSocketSuffix);
        if (wire::whyNoSocket(path, user).empty())
            return LinkAddress{ path, 0, user };
    }
    if (*owner != geteuid() && geteuid() != 0)
        return fail(Error::Kind::Refused, say("process %1 belongs to another user", number),
            say("its user and root can watch it"));
    if (!why.empty())
        return fail(Error::Kind::Refused, say("%1", why.substr(0, why.find('\n'))),
            say("remove it: nobody but you may be able to put anything there"));
    return fail(Error::Kind::NotFound, say("process %1 cannot be watched", number),
        say("start it with: strata record --live"));
}

Result<LinkAddress> findSocket(const std::string& text)
{
    std::error_code error;
    const std::string path = fs::absolute(text, error).string();
    const std::optional<uid_t> owner = ownerOf(path);
    const uid_t user = geteuid() == 0 ? owner.value_or(0) : geteuid();
    if (const std::string problem = wire::whyNoSocket(path, user); !problem.empty())
        return fail(
            Error::Kind::Refused, say("%1: %2", text, problem), say("strata list shows what can be watched"));
    return LinkAddress{ path, 0, user };
}

} // namespace

std::string LinkAddress::text() const
{
    return isPort() ? "127.0.0.1:" + std::to_string(port) : socket;
}

Result<LinkAddress> findAddress(const std::string& text)
{
    if (!text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
        return findProcess(text);
    if (text.find('/') != text.npos)
        return findSocket(text);
    const std::size_t colon = text.rfind(':');
    const auto port = colon == text.npos ? std::nullopt : parsedNumber<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0)
        return fail(Error::Kind::Usage, say("%1: neither a process nor an address", text),
            say("name the number of a process, or 127.0.0.1:PORT; strata list shows what can be watched"));
    const std::string host = text.substr(0, colon);
    if (host != "127.0.0.1" && host != "localhost" && !host.empty())
        return fail(Error::Kind::Usage, say("%1: links end on this machine", text),
            say("ssh -N -L %1:127.0.0.1:%1 %2, then attach to 127.0.0.1:%1", *port, host));
    return LinkAddress{ {}, *port, geteuid() };
}

} // namespace strata::model
