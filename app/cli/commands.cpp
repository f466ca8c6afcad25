// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

namespace strata::cli {

namespace {

model::Result<int> runOn(const std::string& file, const Options& options, Output& out, Output& err)
{
    switch (options.command) {
    case Command::Summary:
        return runSummary(file, options, out, err);
    case Command::Check:
        return runCheck(file, options, out, err);
    case Command::At:
        return runAt(file, options, out, err);
    case Command::Blocks:
        return runBlocks(file, options, out, err);
    case Command::Events:
        return runEvents(file, options, out, err);
    case Command::Convert:
        return runConvert(file, options, out, err);
    case Command::Share:
        return runShare(file, options, out, err);
    case Command::Notes:
        return runNotes(file, options, out, err);
    case Command::Symbolize:
        return runSymbolize(file, out);
    case Command::Render:
        break;
    }
    return runRender(file, options, out, err);
}

model::Result<int> runGuarded(const std::string& file, const Options& options, Output& out, Output& err)
{
    try {
        return runOn(file, options, out, err);
    } catch (const std::bad_alloc&) {
        return model::fail(model::Error::Kind::Refused, "this machine has not enough memory for it",
            "close other programs or use a machine with more");
    } catch (const std::exception& error) {
        return model::fail(model::Error::Kind::Format, error.what(), "please report this as a bug");
    }
}

} // namespace

int run(const Options& options, Output& out, Output& err)
{
    int code = kDone;
    for (const std::string& file : options.files) {
        auto result = runGuarded(file, options, out, err);
        out.flush();
        if (!result) {
            model::Error error = result.error();
            if (error.where.empty())
                error.where = file;
            result = complain(err, error);
        }
        code = std::max(code, *result);
        if (out.closed())
            break;
    }
    if (out.closed() && out.error() != EPIPE) {
        model::Error error{ model::Error::Kind::Unreadable, std::strerror(out.error()),
            "what was printed is not complete", "standard output" };
        return complain(err, error);
    }
    return code;
}

} // namespace strata::cli
