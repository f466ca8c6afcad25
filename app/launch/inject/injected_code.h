// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::launch {

/// What the instructions that are written into a process know; addresses are those of that process.
struct InjectedCode {
    std::uint64_t loadLibrary = 0, findSymbol = 0, lastError = 0; ///< dlopen, dlsym, dlerror
    std::uint64_t asked = 0; ///< cudaGetDevice: they go on there
    std::uint64_t state = 0; ///< of an InjectedState
    std::string library; ///< path of the recorder
    std::string entry; ///< of it that is called
    std::string meeting; ///< what it is given
};

/// What they leave behind, 16 bytes of zeros before.
struct InjectedState {
    enum Value : std::uint64_t { Untouched, Came, Failed };
    std::uint64_t value = Untouched;
    std::uint64_t error = 0; ///< Failed: address of the loader's message; 0: it has no such entry
};

/// Instructions for `address`, with what they know behind them. They stand before a function; the first
/// thread that comes by does, once in the life of the process,
///
///     entry = dlsym(dlopen(library, RTLD_NOW), entry)
///     entry(meeting, asked)
///
/// and every thread goes on to the function as if it had called that. x86-64.
[[nodiscard]] std::vector<std::byte> makeCode(const InjectedCode& code, std::uint64_t address);

/// How many of these bytes are instructions: the first.
[[nodiscard]] std::size_t instructionBytes();

/// What makeCode() made for an earlier injection of the same kind, and that may be used again: its first
/// thread has come by, or none will.
struct EarlierCode {
    std::uint64_t address = 0, asked = 0, state = 0;
};
/// In `memory`, which is at `address`: what differs from `code` in `asked`, `state` and the words of the
/// meeting at most.
[[nodiscard]] std::optional<EarlierCode> findEarlierCode(
    std::span<const std::byte> memory, std::uint64_t address, const InjectedCode& code);

/// The last zeros of `memory`, which is at `address`, behind what stands there: so many, at a multiple of 16.
/// None: there are not so many.
[[nodiscard]] std::optional<std::uint64_t> findZeros(
    std::span<const std::byte> memory, std::uint64_t address, std::size_t bytes);

/// So many bytes makeCode() gives.
[[nodiscard]] std::size_t codeBytes(const InjectedCode& code);

} // namespace strata::launch
