// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/standins/standins.h"

#include "capture/simgpu/standins/rules.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <unistd.h>

namespace strata::simgpu {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "stand-ins 2";

class Fingerprint {
public:
    void add(std::string_view text)
    {
        for (const char c : text)
            m_hash = (m_hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        m_hash = (m_hash ^ 0xff) * 0x100000001b3u;
    }
    std::string text() const
    {
        char out[17];
        std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(m_hash));
        return out;
    }

private:
    std::uint64_t m_hash = 0xcbf29ce484222325u;
};

std::string identityOf(const fs::path& path, const ElfFile& file)
{
    if (!file.buildId.empty())
        return file.buildId;
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    const auto written = fs::last_write_time(path, error);
    return path.string() + ' ' + std::to_string(bytes) + ' '
        + std::to_string(written.time_since_epoch().count());
}

/// Library names that must exist: asked for by name, or opened by LibTorch at run time.
std::set<std::string> librariesAsked(const std::vector<ElfFile>& asking)
{
    std::set<std::string> names{ "libcuda.so.1", "libnvidia-ml.so.1" };
    for (const ElfFile& file : asking) {
        for (const std::string& needed : file.needed) {
            if (isStoodIn(needed))
                names.insert(needed);
        }
    }
    return names;
}

} // namespace

int cudaMajorOf(const std::vector<ElfFile>& asking)
{
    constexpr std::string_view kRuntime = "libcudart.so.";
    int major = 0;
    for (const ElfFile& file : asking) {
        for (const std::string& needed : file.needed) {
            if (!needed.starts_with(kRuntime))
                continue;
            const char* digits = needed.data() + kRuntime.size();
            std::from_chars(digits, needed.data() + needed.size(), major);
        }
    }
    return major;
}

std::vector<StandIn> planStandIns(const std::vector<ElfFile>& asking, const ElfFile& core)
{
    const std::set<std::string> served(core.defined.begin(), core.defined.end());
    std::vector<StandIn> plan;
    for (const std::string& soname : librariesAsked(asking)) {
        StandIn standIn{ .soname = soname, .needed = { core.soname } };
        std::set<std::string> names;
        for (const ElfFile& file : asking) {
            for (const ElfFile::Symbol& symbol : file.undefined) {
                if (symbol.library == soname)
                    standIn.version = symbol.version;
                else if (!symbol.library.empty() || !belongsTo(symbol.name, soname))
                    continue;
                if (!served.contains(symbol.name))
                    names.insert(symbol.name);
            }
        }
        for (const std::string& name : names)
            standIn.functions.push_back({ name, behaviourOf(name) });
        plan.push_back(std::move(standIn));
    }
    return plan;
}

tl::expected<StandInSet, std::string> makeStandIns(
    const std::vector<fs::path>& asking, const fs::path& coreFolder, const fs::path& cache)
{
    Fingerprint fingerprint;
    fingerprint.add(kFormat);
    std::vector<ElfFile> files;
    for (const fs::path& path : asking) {
        auto file = readElf(path.string(), ElfSymbols::LeaveOut);
        if (!file)
            return tl::unexpected(file.error());
        fingerprint.add(identityOf(path, *file));
        files.push_back(std::move(*file));
    }
    StandInSet set{ .cudaMajor = cudaMajorOf(files), .libraries = {} };
    if (set.cudaMajor == 0)
        return tl::unexpected(std::string(
            "this LibTorch asks for no CUDA runtime: start the program with a CUDA build of PyTorch"));
    const fs::path corePath = coreFolder / ("libstrata_simgpu" + std::to_string(set.cudaMajor) + ".so");
    const auto core = readElf(corePath.string());
    if (!core)
        return tl::unexpected("no simulated device for CUDA " + std::to_string(set.cudaMajor) + ": "
            + core.error() + ": "
            + (fs::exists(coreFolder / "libstrata_simgpu13.so")
                    ? "start the program with a PyTorch for CUDA 12 or 13"
                    : "build it with ./run in Strata's folder, or install Strata again"));
    fingerprint.add(identityOf(corePath, *core));

    const fs::path folder = cache / fingerprint.text();
    set.libraries.push_back(corePath);
    for (const std::string& soname : librariesAsked(files))
        set.libraries.push_back(folder / soname);
    std::error_code error;
    if (fs::is_directory(folder, error))
        return set;
    files.clear();
    for (const fs::path& path : asking) {
        if (auto file = readElf(path.string()))
            files.push_back(std::move(*file));
    }
    const fs::path partial = cache / (fingerprint.text() + ".partial." + std::to_string(getpid()));
    fs::create_directories(partial, error);
    if (error)
        return tl::unexpected(cache.string() + ": " + error.message()
            + ": set XDG_CACHE_HOME to a folder that can be written to");
    for (const StandIn& standIn : planStandIns(files, *core)) {
        if (auto written = writeStandIn((partial / standIn.soname).string(), standIn); !written)
            return tl::unexpected(written.error());
    }
    fs::rename(partial, folder, error);
    if (error && !fs::is_directory(folder))
        return tl::unexpected(folder.string() + ": " + error.message()
            + ": set XDG_CACHE_HOME to a folder that can be written to");
    if (error)
        fs::remove_all(partial, error);
    return set;
}

} // namespace strata::simgpu
