// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/frame_origin.h"

#include "model/base/ascii.h"
#include "model/trace/filter/pass_through.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace strata::model {

namespace {

// Lower case; without the dot.
constexpr std::array<std::string_view, 24> kNativeExtensions{ "c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh",
    "hpp", "hxx", "inl", "inc", "ipp", "tcc", "s", "asm", "o", "a", "so", "dylib", "dll", "exe", "rs",
    "hip" };

bool startsWithAnyCase(std::string_view text, std::string_view lowerCase)
{
    return text.size() >= lowerCase.size() && equalAnyCase(text.substr(0, lowerCase.size()), lowerCase);
}

/// The parts of a path from the last to the first.
class PartsFromEnd {
public:
    explicit PartsFromEnd(std::string_view path)
        : m_rest(path)
    {
    }
    [[nodiscard]] bool atEnd() const { return m_done; }
    std::string_view next()
    {
        const std::size_t slash = m_rest.find_last_of("/\\");
        m_done = slash == std::string_view::npos;
        const std::string_view part = m_done ? m_rest : m_rest.substr(slash + 1);
        m_rest = m_done ? std::string_view{} : m_rest.substr(0, slash);
        return part;
    }

private:
    std::string_view m_rest;
    bool m_done = false;
};

/// Python's own, where symbols are read from the dynamic table: "/usr/bin/python3.11".
bool isPythonBinary(std::string_view name)
{
    return name.starts_with("python") && (name.size() == 6 || isDigit(name[6])) && !name.ends_with(".py");
}

bool isNative(std::string_view file)
{
    if (file.empty() || file == "??")
        return true;
    if (file.front() == '<')
        return false;
    const std::string_view name = baseName(file);
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos)
        for (const std::string_view extension : kNativeExtensions)
            if (equalAnyCase(name.substr(dot + 1), extension))
                return true;
    if (name.find(".so.") != std::string_view::npos || file.find("/include/c++/") != std::string_view::npos)
        return true;
    return isPythonBinary(name);
}

/// "python3.11", "python3.13t": what lib/ holds of the standard library.
bool isPythonDirectory(std::string_view part)
{
    return part.starts_with("python") && part.size() > 7 && isDigit(part[6])
        && part.find('.') != std::string_view::npos;
}

/// The directory above Lib in an installation for Windows: Python311, miniconda3, an environment.
bool isWindowsPython(std::string_view parent, std::string_view grandparent)
{
    if (startsWithAnyCase(parent, "python"))
        return parent.size() == 6 || isDigit(parent[6]);
    return startsWithAnyCase(parent, "cpython-") || startsWithAnyCase(parent, "miniconda")
        || startsWithAnyCase(parent, "anaconda") || startsWithAnyCase(parent, "miniforge")
        || startsWithAnyCase(parent, "mambaforge") || equalAnyCase(grandparent, "envs");
}

bool pathStartsWithAny(std::string_view text, std::initializer_list<std::string_view> starts)
{
    return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}
bool hasAny(std::string_view text, std::initializer_list<std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

/// A package, or a module that is one file.
FrameOrigin originOfPackage(std::string_view part)
{
    if (part == "torch")
        return FrameOrigin::Torch;
    if (part.ends_with(".py"))
        part.remove_suffix(3);
    return std::ranges::any_of(
               kPassThroughPackages, [&](std::string_view package) { return equalAnyCase(part, package); })
        ? FrameOrigin::PassThrough
        : FrameOrigin::User;
}

/// Sources of Python as its builds name them: ".../python-3.12.3/Objects/call.c".
bool isPythonSource(std::string_view file)
{
    return hasAny(file, { "/python-3", "/Python-3", "/python-split_", "/cpython/" })
        || ((file.ends_with(".c") || file.ends_with(".h"))
            && hasAny(file, { "Python/", "Objects/", "Modules/", "Include/internal/" }));
}

/// Sources of the C library: "./nptl/pthread_create.c", "./csu/../csu/libc-start.c".
bool isSystemSource(std::string_view file)
{
    return pathStartsWithAny(file,
               { "./nptl/", "./csu/", "./misc/", "./elf/", "./malloc/", "./stdlib/", "./sysdeps/" })
        || hasAny(file, { "/sysdeps/", "/nptl/pthread", "/libstdc++" });
}

} // namespace

std::string_view baseName(std::string_view file)
{
    return file.substr(file.find_last_of("/\\") + 1); // npos + 1 is 0
}

bool isModuleCall(std::string_view file, std::string_view function)
{
    return (function == "_call_impl" || function == "_wrapped_call_impl" || function == "inner")
        && baseName(file) == "module.py" && originOf(file) == FrameOrigin::Torch;
}

bool isSharedLibrary(std::string_view file)
{
    const std::string_view name = baseName(file);
    return name.find(".so") != name.npos || name.ends_with(".dll") || name.ends_with(".dylib")
        || name.ends_with(".exe") || isPythonBinary(name);
}

bool isOwnNative(std::string_view file)
{
    if (!isNative(file) || file.empty() || file == "??")
        return false;
    const std::string_view name = baseName(file);
    if (isSharedLibrary(file))
        return !pathStartsWithAny(file, { "/lib", "/usr/lib" })
            && !pathStartsWithAny(name,
                { "libtorch", "libc10", "libcu", "libnv", "libnccl", "libstdc++", "libgcc", "libc.so",
                    "libm.so", "ld-linux", "libgomp", "libmkl", "libstrata_", "python", "libpython" })
            && !hasAny(file,
                { "/site-packages/torch/", "/dist-packages/torch/", "/site-packages/nvidia/",
                    "/dist-packages/nvidia/" });
    return !pathStartsWithAny(file, { "/usr/include", "/usr/lib", "/usr/src" }) && !isPythonSource(file)
        && !isSystemSource(file) && !file.ends_with(".o")
        && !hasAny(file,
            { "/include/c++/", "/torch/include/", "/libtorch/include/", "/c10/", "/aten/src/",
                "/torch/csrc/" });
}

FrameOrigin originOf(std::string_view file)
{
    if (isNative(file))
        return FrameOrigin::Native;
    if (file.starts_with("<frozen "))
        return FrameOrigin::PythonLibrary;
    if (file.starts_with("<@beartype"))
        return FrameOrigin::PassThrough;
    // From the end, since an environment may lie below anything: .../torch/lib/python3.10/site-packages/einx.
    const bool windows = file.find('\\') != std::string_view::npos;
    std::array<std::string_view, 3>
        parts; // this part of the path, the next one towards the file, and the next
    for (PartsFromEnd path(file); !path.atEnd();) {
        parts = { path.next(), parts[0], parts[1] };
        if (parts[0] == "site-packages" || parts[0] == "dist-packages")
            return originOfPackage(parts[1]);
        if ((parts[0] == "lib" || parts[0] == "lib64") && isPythonDirectory(parts[1]))
            return FrameOrigin::PythonLibrary;
        if (windows
            && ((equalAnyCase(parts[1], "lib") && isWindowsPython(parts[0], {}))
                || (equalAnyCase(parts[2], "lib") && isWindowsPython(parts[1], parts[0]))))
            return FrameOrigin::PythonLibrary;
    }
    // Profilers leave the folder of packages out: "torch/nn/modules/linear.py".
    const std::size_t slash = file.find('/');
    return slash != 0 && slash != std::string_view::npos ? originOfPackage(file.substr(0, slash))
                                                         : FrameOrigin::User;
}

} // namespace strata::model
