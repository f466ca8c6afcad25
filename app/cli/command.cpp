// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "app/cli/text.h"
#include "model/base/words.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

namespace strata::cli {

using model::Error;

int Command::exitCodeOf(const Error& error) const
{
    switch (error.kind) {
    case Error::Kind::Usage:
        return kUsage;
    case Error::Kind::NotFound:
        return kFailed;
    default:
        return kUnreadable;
    }
}

Error caughtError()
{
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return { Error::Kind::Refused, model::say("this machine has not enough memory for it"),
            model::say("close other programs or use a machine with more"), {} };
    } catch (const std::exception& error) {
        return { Error::Kind::Format, model::verbatim(error.what()),
            model::say("please report this as a bug"), {} };
    } catch (...) {
        return { Error::Kind::Format, model::say("something unknown went wrong"),
            model::say("please report this as a bug"), {} };
    }
}

int runCommand(Command& command, Output& out, Output& err)
{
    const model::Result<int> result = guarded([&] { return command.run(out, err); });
    out.flush();
    int code = result.value_or(kDone);
    if (!result) {
        Error error = result.error();
        if (error.where.empty())
            error.where = command.place();
        printError(err, error);
        code = command.exitCodeOf(error);
    }
    if (out.closed() && out.error() != EPIPE) {
        printError(err,
            { Error::Kind::Unreadable, model::verbatim(std::strerror(out.error())),
                model::say("what was printed is not complete"), "standard output" });
        code = kUnreadable;
    }
    return code;
}

void printError(Output& err, const Error& error)
{
    err.line(printable("strata: " + error.text()));
}

} // namespace strata::cli
