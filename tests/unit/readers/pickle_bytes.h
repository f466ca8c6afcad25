// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/reader.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

namespace strata::model {

/// Bytes of a pickle, put together by hand.
class PickleBytes {
public:
    PickleBytes& raw(std::string_view bytes)
    {
        m_bytes += bytes;
        return *this;
    }
    PickleBytes& text(std::string_view s)
    {
        m_bytes += '\x8c';
        m_bytes += static_cast<char>(s.size());
        m_bytes += s;
        return *this;
    }
    PickleBytes& number(std::int64_t v)
    {
        m_bytes += "\x8a\x08";
        return fixed(v);
    }
    template <class T> PickleBytes& fixed(T v)
    {
        m_bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
        return *this;
    }
    /// `key`: `value`
    PickleBytes& member(std::string_view key, std::int64_t value) { return text(key).number(value); }
    PickleBytes& member(std::string_view key, std::string_view value) { return text(key).text(value); }

    /// An event of the alloc kind without a stack.
    PickleBytes& event(std::int64_t address, std::int64_t size)
    {
        return raw("}(")
            .member("action", "alloc")
            .member("addr", address)
            .member("size", size)
            .member("stream", 0)
            .raw("u");
    }

    [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
    std::string m_bytes;
};

[[nodiscard]] inline Result<std::unique_ptr<Recording>> readBytes(
    std::string_view bytes, const ReadLimits& limits = {}, const Progress& progress = {})
{
    return readRecording(std::as_bytes(std::span(bytes.data(), bytes.size())), limits, progress);
}

/// A snapshot with `trace` as the only list of device_traces; `trace` is the opcodes that push a list.
[[nodiscard]] inline std::string snapshotWith(const std::string& trace)
{
    return PickleBytes()
        .raw("\x80\x04}(")
        .text("segments")
        .raw("]")
        .text("device_traces")
        .raw("]")
        .raw(trace)
        .raw("au.")
        .bytes();
}

} // namespace strata::model
