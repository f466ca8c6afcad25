// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/json_text.h"

#include "model/base/utf8.h"
#include "model/readers/values/heap.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

constexpr std::size_t kMostLevels = 32;
constexpr std::string_view kCut = "\"...\"";

struct Level {
    std::span<const Value> items;
    std::size_t next = 0;
    bool dict = false;
};

/// Whether all of it is there.
bool appendScalar(const Heap& heap, Value value, std::size_t limit, std::string& out)
{
    using Tag = Value::Tag;
    switch (value.tag()) {
    case Tag::Int:
    case Tag::WideInt:
        fmt::format_to(std::back_inserter(out), "{}", *heap.signedOf(value));
        break;
    case Tag::WideUnsigned:
        fmt::format_to(std::back_inserter(out), "{}", *heap.bitsOf(value));
        break;
    case Tag::None:
        out += "null";
        break;
    case Tag::Bool:
        out += value.row() != 0 ? "true" : "false";
        break;
    case Tag::Float:
        out += nlohmann::json(*heap.realOf(value)).dump();
        break;
    case Tag::Text:
        appendJsonString(firstBytes(heap.textOf(value), limit), out);
        return heap.textOf(value).size() <= limit;
    case Tag::Pair:
        fmt::format_to(std::back_inserter(out), "[{},{}]", value.pairFirst(), value.pairSecond());
        break;
    case Tag::HugeInt:
    case Tag::Bytes:
    case Tag::Object: // digested: a frame, a stack, a trace or an event
    case Tag::Stack:
    case Tag::Frame:
    case Tag::Unset:
        out += kCut;
        return false;
    }
    return true;
}

} // namespace

void appendJsonString(std::string_view text, std::string& out)
{
    const bool plain = std::all_of(
        text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (plain) {
        out += '"';
        out += text;
        out += '"';
    } else {
        out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
}

bool appendJson(const Heap& heap, Value value, std::size_t limit, std::string& out)
{
    bool isWhole = true;
    const std::size_t most = out.size() + limit;
    std::vector<Level> levels;
    const auto open = [&](Value v) {
        const bool dict = heap.isDict(v);
        if (!dict && !heap.isPlainList(v)) {
            isWhole = appendScalar(heap, v, limit, out) && isWhole;
        } else if (levels.size() >= kMostLevels || out.size() >= most) {
            out += kCut;
            isWhole = false;
        } else {
            out += dict ? '{' : '[';
            levels.push_back({ heap.contents(v), 0, dict });
        }
    };
    open(value);
    while (!levels.empty()) {
        Level& level = levels.back();
        if (level.next >= level.items.size()) {
            out += level.dict ? '}' : ']';
            levels.pop_back();
            continue;
        }
        if (level.next > 0)
            out += ',';
        if (out.size() >= most) {
            out += level.dict ? "\"...\":null" : kCut;
            level.next = level.items.size();
            isWhole = false;
            continue;
        }
        if (level.dict) {
            const Value key = level.items[level.next];
            if (key.is(Value::Tag::Text)) {
                isWhole = appendScalar(heap, key, limit, out) && isWhole;
            } else {
                isWhole = false;
                std::string text;
                appendScalar(heap, key, limit, text);
                appendJsonString(text, out);
            }
            out += ':';
            const Value member = level.items[level.next + 1];
            level.next += 2;
            open(member);
        } else {
            const Value item = level.items[level.next];
            ++level.next;
            open(item);
        }
    }
    return isWhole;
}

} // namespace strata::model
