// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_language.h"

#include "model/base/ascii.h"
#include "model/base/units.h"
#include "model/base/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr std::int64_t kAnySize = FilterConditions::kAnySize;
constexpr std::string_view kNone = "none";
constexpr std::string_view kUnits = "kmgtp";

enum class Relation : std::uint8_t { Above, AtLeast, Below, AtMost, Equal, Like };

struct RelationName {
    std::string_view text;
    Relation relation;
};
// Longer ones first.
constexpr std::array<RelationName, 9> kRelations{ {
    { ">=", Relation::AtLeast }, { "<=", Relation::AtMost }, { ">", Relation::Above },
    { "<", Relation::Below }, { "=", Relation::Equal }, { "~", Relation::Like },
    { "\xe2\x89\xa5", Relation::AtLeast }, // ≥
    { "\xe2\x89\xa4", Relation::AtMost }, // ≤
    { "\xe2\x89\x88", Relation::Like }, // ≈
} };

bool isBlank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// A size as it is written.
struct Size {
    std::int64_t bytes = 0;
    std::int64_t off = 0; ///< half a unit of its last digit: what is shown like this may be that much off
};

std::optional<std::int64_t> scaled(std::int64_t number, std::int64_t unit)
{
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(number, unit, &bytes) ? std::nullopt : std::optional(bytes);
}

/// `number` has digits, one point at most and maybe an exponent; `unit` is "", "b" or one of kUnits with
/// "i", "b", "ib" or nothing behind it, in any case. Whole numbers are exact.
std::optional<Size> sizeOf(const std::string& number, std::string_view unit)
{
    std::int64_t one = 1;
    if (!unit.empty() && lower(unit[0]) != 'b') {
        const bool decimal = unit.size() == 2 && lower(unit[1]) == 'b';
        for (std::size_t power = 0; power <= kUnits.find(lower(unit[0])); ++power)
            one *= decimal ? 1000 : 1024;
    }
    Size size;
    const std::size_t point = number.find('.');
    std::optional<std::int64_t> bytes;
    if (number.find_first_of(".eE") == number.npos) {
        std::int64_t whole = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
        bytes = error == std::errc{} ? scaled(whole, one) : std::nullopt;
    } else
        bytes = parseBytes(number + std::string(unit));
    if (!bytes)
        return std::nullopt;
    size.bytes = *bytes;
    const auto decimals = point == number.npos ? 0.0 : static_cast<double>(number.size() - point - 1);
    if (one > 1)
        size.off = static_cast<std::int64_t>(static_cast<double>(one) * std::pow(10.0, -decimals) / 2);
    return size;
}

void atLeast(FilterConditions& conditions, std::int64_t bytes)
{
    conditions.minBytes = std::max(conditions.minBytes, bytes);
}

void atMost(FilterConditions& conditions, std::int64_t bytes)
{
    conditions.maxBytes = std::min(conditions.maxBytes, bytes);
}

void compare(FilterConditions& conditions, Relation relation, const Size& size)
{
    const std::int64_t off = relation == Relation::Like ? size.off : 0;
    switch (relation) {
    case Relation::Above:
        return atLeast(conditions, size.bytes == kAnySize ? kAnySize : size.bytes + 1);
    case Relation::AtLeast:
        return atLeast(conditions, size.bytes);
    case Relation::Below:
        return atMost(conditions, size.bytes - 1);
    case Relation::AtMost:
        return atMost(conditions, size.bytes);
    case Relation::Equal:
    case Relation::Like:
        atLeast(conditions, std::max<std::int64_t>(size.bytes - off, 0));
        atMost(conditions, size.bytes > kAnySize - off ? kAnySize : size.bytes + off);
    }
}

class Parser {
public:
    explicit Parser(std::string_view text)
        : m_text(text)
    {
    }

    Result<FilterConditions> parse()
    {
        for (skipBlanks(); m_at < m_text.size(); skipBlanks()) {
            if (const auto term = parseTerm(); !term)
                return Failure(term.error());
        }
        // A size alone: what is shown like it.
        if (!m_quoted && !m_words.empty()) {
            Parser alone(m_words);
            if (const auto size = alone.size(); size && alone.m_at == m_words.size()) {
                compare(m_conditions, Relation::Like, *size);
                return std::move(m_conditions);
            }
        }
        m_conditions.text = std::move(m_words);
        return std::move(m_conditions);
    }

private:
    [[nodiscard]] bool atEndOfWord(std::size_t at) const
    {
        return at >= m_text.size() || isBlank(m_text[at]);
    }
    void skipBlanks()
    {
        while (m_at < m_text.size() && isBlank(m_text[m_at]))
            ++m_at;
    }
    [[nodiscard]] bool take(std::string_view word)
    {
        if (!m_text.substr(m_at).starts_with(word))
            return false;
        m_at += word.size();
        return true;
    }
    [[nodiscard]] std::string_view restOfWord() const
    {
        std::size_t end = m_at;
        while (!atEndOfWord(end))
            ++end;
        return m_text.substr(m_at, end - m_at);
    }

    /// Of a byte, in characters from 1.
    [[nodiscard]] std::int64_t column(std::size_t at) const
    {
        return 1 + static_cast<std::int64_t>(characters(m_text.substr(0, at)));
    }
    [[nodiscard]] Failure refuse(std::size_t at, Sentence what, Sentence hint) const
    {
        return fail(Error::Kind::Usage, say("%1 at column %2", std::move(what), column(at)), std::move(hint));
    }
    [[nodiscard]] Failure refuseWithoutBlank() const
    {
        return refuse(
            m_at, say("No blank behind the quote"), say("put one there, or write \\\" for a quote inside"));
    }

    Result<void> parseTerm()
    {
        if (m_text[m_at] == '"')
            return parseQuotedText();
        const std::size_t begin = m_at;
        if (const auto taken = parseComparison(); !taken || *taken)
            return taken ? Result<void>() : Failure(taken.error());
        if (parseRange())
            return {};
        if (take("line:"))
            return parseLabel(m_conditions.line, "line:", begin, say("A second line"));
        if (take("category:"))
            return parseLabel(m_conditions.category, "category:", begin, say("A second category"));
        if (take("module:"))
            return parseLabel(m_conditions.module, "module:", begin, say("A second module"));
        if (take("stack:"))
            return parseStack();
        if (take("stream:"))
            return parseStream(begin);
        if (take("pool:"))
            return parsePool(begin);
        const std::string_view word = restOfWord();
        addWord(word);
        m_at += word.size();
        return {};
    }

    void addWord(std::string_view word)
    {
        if (m_anyWord)
            m_words += ' ';
        m_words += word;
        m_anyWord = true;
    }

    Result<void> parseQuotedText()
    {
        const auto text = quoted();
        if (!text)
            return Failure(text.error());
        if (!atEndOfWord(m_at))
            return refuseWithoutBlank();
        addWord(*text);
        m_quoted = true;
        return {};
    }

    /// False: there is none here, and nothing was read.
    Result<bool> parseComparison()
    {
        const std::size_t begin = m_at;
        const auto* const found = std::find_if(kRelations.begin(), kRelations.end(),
            [this](const RelationName& name) { return m_text.substr(m_at).starts_with(name.text); });
        if (found == kRelations.end())
            return false;
        m_at += found->text.size();
        const bool alone = atEndOfWord(m_at);
        skipBlanks();
        if (const auto read = size(); read && atEndOfWord(m_at)) {
            compare(m_conditions, found->relation, *read);
            return true;
        }
        m_at = begin;
        if (alone)
            return refuse(begin, say("No size after \"%1\"", found->text),
                say("write a size such as 1 MiB, 512 or 2GiB"));
        return false; // "<module>" is a name
    }

    bool parseRange()
    {
        const std::size_t begin = m_at;
        const auto from = size();
        if (from && take("..")) {
            if (const auto to = size(); to && atEndOfWord(m_at)) {
                atLeast(m_conditions, from->bytes);
                atMost(m_conditions, to->bytes);
                return true;
            }
        }
        m_at = begin;
        return false;
    }

    /// A number with its unit, which may stand apart; what follows is the end of a word, or "..".
    std::optional<Size> size()
    {
        std::string number;
        std::size_t at = m_at;
        for (; at < m_text.size(); ++at) {
            const char c = m_text[at];
            const bool point = c == '.' && number.find('.') == number.npos && at + 1 < m_text.size()
                && isDigit(m_text[at + 1]);
            if (isDigit(c) || (point && !number.empty()))
                number += c;
            else if (c != ',' || number.empty())
                break;
        }
        if (number.empty())
            return std::nullopt;
        if (at + 1 < m_text.size() && lower(m_text[at]) == 'e' && isDigit(m_text[at + 1])) {
            number += 'e';
            for (++at; at < m_text.size() && isDigit(m_text[at]); ++at)
                number += m_text[at];
        }
        const auto ends
            = [this](std::size_t end) { return atEndOfWord(end) || m_text.substr(end).starts_with(".."); };
        std::size_t unit = at;
        while (unit < m_text.size() && isBlank(m_text[unit]))
            ++unit;
        const std::size_t length = unitLength(unit);
        std::string_view named;
        if (length > 0 && ends(unit + length)) {
            named = m_text.substr(unit, length);
            at = unit + length;
        } else if (!ends(at))
            return std::nullopt;
        const auto read = sizeOf(number, named);
        if (read)
            m_at = at;
        return read;
    }

    /// Bytes of "MiB", "M", "GB" or "b" at a place; 0 where there is none.
    [[nodiscard]] std::size_t unitLength(std::size_t at) const
    {
        const auto is = [this](std::size_t place, char c) {
            return place < m_text.size() && lower(m_text[place]) == c;
        };
        if (at >= m_text.size())
            return 0;
        if (is(at, 'b'))
            return 1;
        if (kUnits.find(lower(m_text[at])) == kUnits.npos)
            return 0;
        const std::size_t i = is(at + 1, 'i') ? 1 : 0;
        return 1 + i + (is(at + 1 + i, 'b') ? 1 : 0);
    }

    Result<std::string> quoted()
    {
        const std::size_t begin = m_at++;
        std::string text;
        for (; m_at < m_text.size(); ++m_at) {
            if (m_text[m_at] == '"') {
                ++m_at;
                return text;
            }
            const bool escapes = m_text[m_at] == '\\' && m_at + 1 < m_text.size()
                && (m_text[m_at + 1] == '"' || m_text[m_at + 1] == '\\');
            if (escapes)
                ++m_at;
            text += m_text[m_at];
        }
        return refuse(begin, say("A quote without an end"), say("write \" behind it"));
    }

    /// A word up to a blank or one of `stops`, or a quoted one.
    Result<std::string> label(std::string_view key, std::string_view stops)
    {
        const std::size_t begin = m_at;
        if (m_at < m_text.size() && m_text[m_at] == '"') {
            auto text = quoted();
            if (text && !atEndOfWord(m_at) && stops.find(m_text[m_at]) == stops.npos)
                return refuseWithoutBlank();
            return text;
        }
        while (!atEndOfWord(m_at) && stops.find(m_text[m_at]) == stops.npos)
            ++m_at;
        if (m_at == begin)
            return refuse(begin, say("Nothing behind \"%1\"", key),
                say("write what it has to be, as in %1%2", key,
                    key == "category:"     ? "activation"
                        : key == "module:" ? "h.3.attn"
                                           : "train.py:57"));
        return std::string(m_text.substr(begin, m_at - begin));
    }

    [[nodiscard]] Result<void> onlyOne(bool before, std::size_t begin, Sentence second) const
    {
        if (before)
            return refuse(begin, std::move(second), say("a block has one alone: leave one out"));
        return {};
    }

    Result<void> parseLabel(
        std::optional<std::string>& to, std::string_view key, std::size_t begin, Sentence second)
    {
        if (const auto one = onlyOne(to.has_value(), begin, std::move(second)); !one)
            return one;
        auto text = label(key, {});
        if (!text)
            return Failure(text.error());
        to = std::move(*text);
        return {};
    }

    Result<void> parseStack()
    {
        FilterConditions::Stack stack;
        if (restOfWord() == kNone) {
            m_at += kNone.size();
        } else {
            do {
                auto text = label("stack:", ",");
                if (!text)
                    return Failure(text.error());
                stack.push_back(std::move(*text));
            } while (take(","));
        }
        m_conditions.stacks.push_back(std::move(stack));
        return {};
    }

    Result<void> parseStream(std::size_t begin)
    {
        if (const auto one = onlyOne(m_conditions.stream.has_value(), begin, say("A second stream")); !one)
            return one;
        const std::string_view word = restOfWord();
        std::int64_t handle = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), handle);
        if (word == kNone)
            m_conditions.stream.emplace(std::nullopt);
        else if (error == std::errc{} && end == word.data() + word.size())
            m_conditions.stream.emplace(handle);
        else
            return refuse(m_at, say("No stream: \"%1\"", word), say("write its number, or none"));
        m_at += word.size();
        return {};
    }

    Result<void> parsePool(std::size_t begin)
    {
        if (const auto one = onlyOne(m_conditions.pool.has_value(), begin, say("A second pool")); !one)
            return one;
        const std::string_view word = restOfWord();
        const std::optional<Pool> pool = poolOf(word);
        if (!pool && word != kNone)
            return refuse(m_at, say("No pool: \"%1\"", word),
                say("write small, large, (0,1)/large for another than the default one, or none"));
        m_conditions.pool.emplace(pool);
        m_at += word.size();
        return {};
    }

    static std::optional<Pool> poolOf(std::string_view word)
    {
        Pool pool;
        if (word.starts_with("(")) {
            const char* const last = word.data() + word.size();
            const auto owner = std::from_chars(word.data() + 1, last, pool.owner);
            if (owner.ec != std::errc{} || owner.ptr == last || *owner.ptr != ',')
                return std::nullopt;
            const auto id = std::from_chars(owner.ptr + 1, last, pool.id);
            const std::string_view rest(id.ptr, static_cast<std::size_t>(last - id.ptr));
            if (id.ec != std::errc{} || !rest.starts_with(")/"))
                return std::nullopt;
            word = rest.substr(2);
        }
        const auto kind = kindFromName(word);
        if (!kind)
            return std::nullopt;
        pool.kind = *kind;
        return pool;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    FilterConditions m_conditions;
    std::string m_words; // that are no other term, with a blank between them
    bool m_anyWord = false;
    bool m_quoted = false;
};

std::string inQuotes(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

/// A label as a word where that reads the same.
std::string labelText(const std::string& label, std::string_view stops)
{
    const bool plain = !label.empty() && label != kNone && label.front() != '"'
        && std::none_of(
            label.begin(), label.end(), [&](char c) { return isBlank(c) || stops.find(c) != stops.npos; });
    return plain ? label : inQuotes(label);
}

std::string sizeText(std::int64_t bytes)
{
    constexpr std::array<const char*, 5> kNames{ "KiB", "MiB", "GiB", "TiB", "PiB" };
    std::size_t power = 0;
    while (power < kNames.size() && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++power;
    }
    return fmt::format("{}{}", bytes, power == 0 ? "" : kNames[power - 1]);
}

std::string sizesText(std::int64_t least, std::int64_t most)
{
    if (most < 0) // of no block
        return least > 0 ? fmt::format(">={} <0", sizeText(least)) : "<0";
    if (least == most)
        return "=" + sizeText(least);
    if (most == kAnySize)
        return ">=" + sizeText(least);
    if (least == 0)
        return "<=" + sizeText(most);
    return fmt::format("{}..{}", sizeText(least), sizeText(most));
}

std::string poolText(const std::optional<Pool>& pool)
{
    return pool ? poolName(*pool) : std::string(kNone);
}

} // namespace

Result<FilterConditions> parseFilter(std::string_view text)
{
    return Parser(text).parse();
}

std::string printFilter(const FilterConditions& conditions)
{
    std::string out;
    const auto term = [&out](const std::string& text) {
        if (!out.empty())
            out += ' ';
        out += text;
    };
    if (!conditions.text.empty()) {
        FilterConditions alone;
        alone.text = conditions.text;
        const auto read = parseFilter(conditions.text);
        term(read && *read == alone ? conditions.text : inQuotes(conditions.text));
    }
    if (conditions.line)
        term("line:" + labelText(*conditions.line, {}));
    if (conditions.category)
        term("category:" + labelText(*conditions.category, {}));
    if (conditions.module)
        term("module:" + labelText(*conditions.module, {}));
    for (const FilterConditions::Stack& stack : conditions.stacks) {
        std::string labels;
        for (const std::string& label : stack)
            labels += (labels.empty() ? "" : ",") + labelText(label, ",");
        term("stack:" + (stack.empty() ? std::string(kNone) : labels));
    }
    if (conditions.stream)
        term("stream:" + (*conditions.stream ? fmt::format("{}", **conditions.stream) : std::string(kNone)));
    if (conditions.pool)
        term("pool:" + poolText(*conditions.pool));
    if (conditions.minBytes > 0 || conditions.maxBytes != kAnySize)
        term(sizesText(conditions.minBytes, conditions.maxBytes));
    return out;
}

std::string printFilter(const Recording& recording, const BlockFilter& filter)
{
    return printFilter(conditionsOf(recording, filter));
}

} // namespace strata::model
