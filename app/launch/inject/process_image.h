// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace strata::launch {

/// A library, or the program itself, as the loader of a process put it into memory.
struct LoadedFile {
    std::string path; ///< as the process names it
    std::uint64_t start = 0; ///< where its first byte is
    std::uint64_t bias = 0; ///< what the loader added to its addresses
};

/// Memory of a process, as it was.
struct MemoryCopy {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
};

/// The memory of another process, read while that goes on: what its loader left there, by which we find
/// functions of its libraries, and the places through which they call each other. Reads what is mapped and
/// nothing of the disk, so that files that were replaced since do no harm. Values are those of the moment.
/// x86-64, glibc. One thread.
class ProcessImage {
public:
    /// None: `why` is what the system says (errno), EACCES where this process may not look into that one.
    [[nodiscard]] static std::optional<ProcessImage> open(pid_t process, int& why);
    ProcessImage(ProcessImage&& other) noexcept;
    ProcessImage& operator=(ProcessImage&& other) noexcept;
    ~ProcessImage();

    /// What is mapped, in the order of addresses, one for each file.
    [[nodiscard]] const std::vector<LoadedFile>& files() const { return m_files; }
    /// The first whose name (not path) begins so.
    [[nodiscard]] const LoadedFile* find(std::string_view name) const;

    /// All or nothing.
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> into) const;
    template <class T> [[nodiscard]] std::optional<T> readAs(std::uint64_t address) const
    {
        T value{};
        if (!read(address, std::as_writable_bytes(std::span(&value, 1))))
            return std::nullopt;
        return value;
    }
    /// Up to a zero, at most so many bytes.
    [[nodiscard]] std::string readText(std::uint64_t address, std::size_t most) const;

    /// Whether the loader is done with the file, as the process stands now: it is where it was, what the
    /// loader alone may write to (PT_GNU_RELRO) is closed, and `place`, of those through which the file calls
    /// others, leads to code. Before that the loader still adds addresses to such places.
    [[nodiscard]] bool isLinked(const LoadedFile& file, std::uint64_t place) const;

    /// A 64-bit file of x86-64.
    [[nodiscard]] bool isOurArchitecture(const LoadedFile& file) const;
    /// A function that the file defines and exports.
    [[nodiscard]] std::optional<std::uint64_t> findFunction(
        const LoadedFile& file, std::string_view name) const;
    /// The place through which the file calls a function of another one.
    [[nodiscard]] std::optional<std::uint64_t> findCallPlace(
        const LoadedFile& file, std::string_view function) const;
    /// Between the end of a part of the file and the end of its last page: mapped, with the rights of that
    /// part, and used by nobody. None where they are the same.
    enum class Part : std::uint8_t { Code, Data };
    [[nodiscard]] std::optional<MemoryCopy> readRest(const LoadedFile& file, Part part) const;

private:
    struct Tables;

    ProcessImage(pid_t process, int memory);
    void readMaps();
    [[nodiscard]] std::optional<Tables> tablesOf(const LoadedFile& file) const;

    pid_t m_process;
    int m_memory;
    std::vector<LoadedFile> m_files;
};

} // namespace strata::launch
