// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/command.h"

#include <utility>

namespace strata::launch {

bool Command::isCertain() const
{
    if (torch)
        return torch->isLinked || !program.interpreter.empty();
    return hasOtherTorch || program.interpreter == program.executable;
}

model::Result<Command> findCommand(const std::vector<std::string>& words)
{
    auto program = simgpu::findProgram(words.front());
    if (!program)
        return model::fail(model::Error::Kind::Usage, model::verbatim(program.error()));
    Command command{ words, *std::move(program), {}, {}, false };
    auto torch = simgpu::findLibTorch(command.program);
    if (torch)
        command.torch = *std::move(torch);
    else {
        command.whyNoTorch = torch.error().what;
        command.hasOtherTorch = torch.error().isInstalled;
    }
    return command;
}

} // namespace strata::launch
