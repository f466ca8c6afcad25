// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/hook_at_hand.h"

#include "app/launch/libraries.h"
#include "capture/hook_maker/make_hook.h"

#include <cstdio>

namespace strata::launch {

namespace {

namespace fs = std::filesystem;
using model::Error;

hook::TorchFiles filesOf(const simgpu::LibTorch& torch)
{
    hook::TorchFiles files = hook::readTorchFiles(torch.folder);
    if (files.version.empty())
        files.version = torch.version;
    return files;
}

} // namespace

std::string versionOf(const simgpu::LibTorch& torch)
{
    return filesOf(torch).version;
}

std::string versionIn(const fs::path& folder)
{
    return hook::readTorchFiles(folder).version;
}

model::Result<fs::path> hookFor(const simgpu::LibTorch& torch)
{
    const hook::TorchFiles files = filesOf(torch);
    const auto made = hook::makeHook(files, libraryFolder(), [&] {
        std::fprintf(stderr, "strata: torch %s: compiling its hook, once, in about ten seconds\n",
            files.version.c_str());
    });
    if (!made)
        return model::fail(
            Error::Kind::NotFound, model::say("torch %1: no hook for it: %2", files.version, made.error()));
    return *made;
}

} // namespace strata::launch
