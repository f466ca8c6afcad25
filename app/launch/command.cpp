// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/command.h"

#include <utility>

namespace strata::launch {

bool Command::isCertain() const
{
    return !program.interpreter.empty() || (torch && torch->isLinked);
}

model::Result<Command> findCommand(const std::vector<std::string>& words)
{
    auto program = simgpu::findProgram(words.front());
    if (!program)
        return model::fail(model::Error::Kind::Usage, model::verbatim(program.error()));
    Command command{ words, *std::move(program), {}, {} };
    auto torch = simgpu::findLibTorch(command.program);
    if (torch)
        command.torch = *std::move(torch);
    else
        command.whyNoTorch = torch.error();
    return command;
}

} // namespace strata::launch
