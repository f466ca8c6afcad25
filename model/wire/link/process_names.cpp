// SPDX-License-Identifier: Apache-2.0
#include "model/wire/link/process_names.h"

#include <algorithm>

namespace strata::wire {

namespace {

std::string_view baseName(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

} // namespace

std::string programName(std::string_view command)
{
    std::string_view program;
    while (!command.empty()) {
        const std::size_t end = std::min(command.find(' '), command.size());
        const std::string_view word = command.substr(0, end);
        command.remove_prefix(std::min(end + 1, command.size()));
        if (word.empty())
            continue;
        if (program.empty()) {
            program = baseName(word);
            if (!program.starts_with("python"))
                break;
        } else if (word == "-m" || word == "-c") {
            const std::size_t next = std::min(command.find(' '), command.size());
            if (word == "-m" && next > 0)
                return std::string(command.substr(0, next));
            break;
        } else if (!word.starts_with('-'))
            return std::string(baseName(word));
    }
    return std::string(program);
}

std::string jobName(const std::function<std::string(const char* name)>& variable)
{
    const std::string elastic = variable("TORCHELASTIC_RUN_ID");
    if (!elastic.empty() && elastic != "none")
        return elastic;
    if (const std::string slurm = variable("SLURM_JOB_ID"); !slurm.empty())
        return slurm;
    const std::string host = variable("MASTER_ADDR"), port = variable("MASTER_PORT");
    return host.empty() || port.empty() ? "" : host + ":" + port;
}

} // namespace strata::wire
