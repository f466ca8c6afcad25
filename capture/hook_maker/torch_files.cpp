// SPDX-License-Identifier: Apache-2.0
#include "capture/hook_maker/torch_files.h"

#include "capture/hook_maker/read_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace strata::hook {

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path)
{
    return readFile(path).value_or(std::string());
}

/// What stands between the first two quotes behind `name`, in torch/version.py.
std::string quotedAfter(const std::string& line, std::string_view name)
{
    if (line.rfind(name, 0) != 0)
        return {};
    const std::size_t first = line.find('\'');
    const std::size_t last = first == line.npos ? first : line.find('\'', first + 1);
    return last == line.npos ? std::string{} : line.substr(first + 1, last - first - 1);
}

/// The number behind "#define NAME", in torch/version.h.
std::string definedAs(const std::string& text, const std::string& name)
{
    const std::size_t at = text.find("#define " + name + " ");
    if (at == text.npos)
        return {};
    const std::size_t first = at + name.size() + 9;
    const std::size_t last = text.find_first_not_of("0123456789", first);
    return text.substr(first, last - first);
}

std::string versionOfHeaders(const fs::path& headers)
{
    for (const char* place : { "torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h" }) {
        const std::string text = contents(headers / place);
        const std::string major = definedAs(text, "TORCH_VERSION_MAJOR");
        if (!major.empty())
            return major + "." + definedAs(text, "TORCH_VERSION_MINOR") + "."
                + definedAs(text, "TORCH_VERSION_PATCH");
    }
    return {};
}

void readVersion(TorchFiles& torch)
{
    std::ifstream python(torch.folder.parent_path() / "version.py");
    for (std::string line; std::getline(python, line);) {
        if (const std::string version = quotedAfter(line, "__version__"); !version.empty())
            torch.version = version;
        if (const std::string cuda = quotedAfter(line, "cuda"); !cuda.empty())
            torch.cuda = cuda;
    }
    // The archives for C++ have a file with the version instead.
    if (torch.version.empty()) {
        std::ifstream file(torch.folder.parent_path() / "build-version");
        std::getline(file, torch.version);
    }
    if (torch.version.empty())
        torch.version = versionOfHeaders(torch.headers);
    if (const char* given = std::getenv("STRATA_TORCH_VERSION"); given && *given)
        torch.version = given;
}

/// In a wheel and an archive lib and include are neighbours; a distribution has a folder for the
/// architecture.
fs::path headersOf(const fs::path& folder)
{
    std::error_code error;
    for (const fs::path& above : { folder.parent_path(), folder.parent_path().parent_path() }) {
        if (fs::exists(above / "include" / "c10" / "cuda" / "CUDACachingAllocator.h", error))
            return above / "include";
    }
    return {};
}

int cudaMajorOf(const TorchFiles& torch)
{
    constexpr std::string_view kRuntime = "libcudart.so.";
    const std::string library = contents(torch.folder / "libc10_cuda.so");
    const std::size_t at = library.find(kRuntime);
    return std::atoi(at == library.npos ? torch.cuda.c_str() : library.c_str() + at + kRuntime.size());
}

bool hasNewStrings(const fs::path& folder)
{
    // The constructor of c10::Error, whose std::string of before is called Ss.
    return contents(folder / "libc10.so").find("_ZN3c105ErrorC1ENS_14SourceLocationESs") == std::string::npos;
}

} // namespace

std::string TorchFiles::minorVersion() const
{
    const std::size_t dot = version.find('.');
    return dot == version.npos ? version
                               : version.substr(0, version.find_first_not_of("0123456789", dot + 1));
}

bool TorchFiles::isRelease() const
{
    const std::string number = version.substr(0, version.find('+'));
    return !number.empty() && std::all_of(number.begin(), number.end(), [](unsigned char c) {
        return std::isdigit(c) || c == '.';
    });
}

TorchFiles readTorchFiles(const fs::path& folder)
{
    TorchFiles torch;
    std::error_code error;
    torch.folder = fs::absolute(folder, error).lexically_normal();
    if (!torch.folder.has_filename())
        torch.folder = torch.folder.parent_path();
    torch.headers = headersOf(torch.folder);
    readVersion(torch);
    torch.cudaMajor = cudaMajorOf(torch);
    torch.newStrings = hasNewStrings(torch.folder);
    return torch;
}

} // namespace strata::hook
