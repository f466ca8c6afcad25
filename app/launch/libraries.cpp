// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/libraries.h"

namespace strata::launch {

namespace fs = std::filesystem;
using model::Error;

fs::path programFolder()
{
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path libraryFolder()
{
    std::error_code error;
    const fs::path prefix = programFolder().parent_path();
    for (const char* lib : { "lib", "lib64", "lib/x86_64-linux-gnu" })
        if (fs::exists(prefix / lib / "strata", error))
            return prefix / lib / "strata";
    return prefix / "lib" / "strata";
}

model::Result<fs::path> libraryAt(const std::string& name)
{
    const fs::path path = libraryFolder() / name;
    std::error_code error;
    if (!fs::exists(path, error))
        return model::fail(Error::Kind::Usage, model::say("%1: not there", path),
            model::say("build it with ./run in Strata's folder, or install Strata again"));
    return path;
}

model::Result<fs::path> preloadable(const std::string& name)
{
    auto path = libraryAt(name);
    if (path && path->string().find_first_of(" :;\t\n") != std::string::npos)
        return model::fail(Error::Kind::Usage,
            model::say("%1: the loader cannot preload from a folder with spaces or colons", *path),
            model::say("move Strata to another one"));
    return path;
}

} // namespace strata::launch
