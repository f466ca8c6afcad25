// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace strata::cli {

enum ExitCode : int {
    kDone = 0, ///< whatever the verdict
    kFailed = 1, ///< a check or a limit failed, or the recording has nothing at the position asked for
    kUsage = 2,
    kUnreadable = 3,
};

/// The words of a program that a command starts: they stand behind "--", and none of them is an option of
/// ours.
struct ProgramWords {
    std::string example; ///< a whole command line that is right
    bool required = true;
    model::Sentence beside = {}; ///< what to do with a file that is none of our words; empty: nothing
    std::vector<std::string> words = {}; ///< read before Command::check()
};

/// One command of `strata`: declares its options, is filled with them, runs once. What it prints goes to
/// `out`; complaints go to `err` or are given back. It may throw: runCommand() makes errors of exceptions.
class Command {
public:
    Command(std::string name, std::string purpose)
        : m_name(std::move(name))
        , m_purpose(std::move(purpose))
    {
    }
    virtual ~Command() = default;
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::string& purpose() const { return m_purpose; } ///< a line of `strata --help`

    /// Its options, in the order of its help; they are written into this object.
    virtual void declare(CLI::App& app) = 0;
    /// Where the words behind "--" go; nullptr: it starts no program.
    [[nodiscard]] virtual ProgramWords* programWords() { return nullptr; }
    /// What the declarations cannot say of the options. Kind::Usage with a remedy.
    [[nodiscard]] virtual model::Result<void> check() { return {}; }
    /// The exit code, or an error for the user.
    [[nodiscard]] virtual model::Result<int> run(Output& out, Output& err) = 0;

    /// What its errors begin with where they name no file.
    [[nodiscard]] virtual std::string_view place() const { return {}; }
    /// kUsage for bad usage, kFailed for what is not there, else kUnreadable.
    [[nodiscard]] virtual int exitCodeOf(const model::Error& error) const;

private:
    std::string m_name;
    std::string m_purpose;
};

using Commands = std::vector<std::unique_ptr<Command>>;

/// Runs a command whose options were read, under the guard of all commands: errors and exceptions become one
/// sentence on `err`, a reader of `out` that went away (`| head`) ends it quietly, a full disk does not. The
/// exit code.
[[nodiscard]] int runCommand(Command& command, Output& out, Output& err);

/// The exception that is being handled, as an error for the user.
[[nodiscard]] model::Error caughtError();

/// What `work` gives, with what it throws as an error.
template <class Work> [[nodiscard]] model::Result<int> guarded(const Work& work)
{
    try {
        return work();
    } catch (...) {
        return model::Failure(caughtError());
    }
}

/// Prints "strata: WHERE: WHAT: WHAT TO DO".
void printError(Output& err, const model::Error& error);

} // namespace strata::cli
