// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/tables/save_as.h"
#include "model/trace/producer.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace strata::cli {

namespace {

class Convert final : public FileCommand {
public:
    Convert()
        : FileCommand(
            "convert", "Writes a recording as a Strata session (.strata) or as a PyTorch snapshot (.pickle)")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("-o,--output", m_output,
               "File to write: NAME.strata for a session, NAME.pickle for PyTorch's own tools")
            ->required()
            ->type_name("FILE");
        declareForce(app, m_force);
        app.footer(footer(Footer::ExitCodes));
    }

    model::Result<void> checkOptions() override
    {
        if (const auto format = model::savedFormat(m_output); !format)
            return model::Failure(format.error());
        return {};
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        std::error_code ignored;
        if (std::filesystem::equivalent(file, m_output, ignored))
            return model::fail(model::Error::Kind::Usage,
                model::say("a recording is not written over itself"),
                model::say("give another name with -o"));
        const auto session = openSession(file, m_force, err);
        if (!session)
            return model::Failure(session.error());
        const model::Recording& recording = (*session)->recording();
        const model::Result<void> written = model::saveAs(**session, m_output);
        if (!written)
            return model::Failure(written.error());
        const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(m_output, ignored));
        sayLost(recording, err);
        out.line(fmt::format("{}: {} (from {})", m_output, model::formatBytes(bytes),
            model::formatBytes(static_cast<std::int64_t>(recording.fileBytes))));
        return kDone;
    }

private:
    /// What the file had and the new one has not.
    void sayLost(const model::Recording& recording, Output& err) const
    {
        std::vector<std::string> lost;
        for (const auto& [key, count] : model::lostKeys(recording))
            lost.push_back(printable(fmt::format("{} ({})", key, model::formatCount(count))));
        if (recording.host && std::filesystem::path(m_output).extension() == ".pickle")
            lost.emplace_back("pinned host memory");
        if (!lost.empty())
            err.line(fmt::format("strata: {}: not kept: {}", printable(m_output), fmt::join(lost, ", ")));
    }

    std::string m_output;
    bool m_force = false;
};

} // namespace

std::unique_ptr<Command> makeConvert()
{
    return std::make_unique<Convert>();
}

} // namespace strata::cli
