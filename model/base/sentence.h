// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// What is said to people is a sentence: its English, which is its id too, and the things that it speaks of.
/// It becomes words where it is read: the command line prints the English, a window may word it in another
/// language. `say("there is no device %1", device)` makes one.

/// English as a literal of the source, where resources/translations/update.py finds it for translators.
/// "%1" to "%9" are what it speaks of, "*words*" stand out, "**" is a star.
class English {
public:
    constexpr English() = default; ///< says nothing
    template <std::size_t size>
    consteval explicit English(const char (&literal)[size])
        : m_text(literal, size - 1)
    {
    }

    [[nodiscard]] constexpr std::string_view text() const { return m_text; }
    /// The places of what it speaks of, 1 to 9, as bits from 0.
    [[nodiscard]] constexpr unsigned places() const
    {
        unsigned found = 0;
        for (std::size_t i = 0; i + 1 < m_text.size(); ++i)
            if (m_text[i] == '%' && m_text[i + 1] >= '1' && m_text[i + 1] <= '9')
                found |= 1U << (m_text[i + 1] - '1');
        return found;
    }

private:
    std::string_view m_text;
};

/// English that speaks of `arguments` things. What has more or fewer does not compile.
template <std::size_t arguments> class EnglishOf : public English {
public:
    template <std::size_t size>
    consteval EnglishOf(const char (&literal)[size])
        : English(literal)
    {
        if (places() != (1U << arguments) - 1)
            theArgumentsAreNotThoseOfTheEnglish();
    }

private:
    static void theArgumentsAreNotThoseOfTheEnglish() { }
};

/// Words English in another language; none: it stays English.
using Wording = std::function<std::string(std::string_view english)>;

/// A sentence in pieces, so that a window can make its figures bold and link them.
struct SentencePiece {
    std::string text;
    bool strong = false;
    std::optional<EventIndex> link; ///< as SentenceArgument::link
    std::string line = {}; ///< as SentenceArgument::line
};

struct SentenceArgument;

struct MaySay; ///< complete in files that include model/base/words.h
template <class May>
concept Says = sizeof(May) > 0;

/// Code decides by codes and figures, never by words. text() and pieces() compile only in files that include
/// model/base/words.h, in libraries that link strata_words: those that print, draw or store sentences.
class Sentence {
public:
    Sentence(); ///< says nothing
    explicit Sentence(English english);
    Sentence(English english, std::vector<SentenceArgument> arguments);

    [[nodiscard]] bool empty() const;
    template <Says May = MaySay> [[nodiscard]] std::string text(const Wording& word = {}) const
    {
        return wholeText(word);
    }
    template <Says May = MaySay>
    [[nodiscard]] std::vector<SentencePiece> pieces(const Wording& word = {}) const
    {
        return allPieces(word);
    }

private:
    friend struct Error; // its words are gated likewise
    [[nodiscard]] std::string wholeText(const Wording& word) const;
    [[nodiscard]] std::vector<SentencePiece> allPieces(const Wording& word) const;

    std::string_view m_english; // of the program: it outlives all
    std::vector<SentenceArgument> m_arguments;
};

/// One thing that a sentence speaks of, with its figure as it is.
struct SentenceArgument {
    enum class Kind : std::uint8_t {
        Text, ///< a name, or what somebody else says: `text`
        Bytes, ///< "1.50 GiB"
        ExactBytes, ///< "1,536 B"
        Count, ///< "1,234"
        Number, ///< "1234": of what is numbered
        Address, ///< "0x7f3a00000000"
        Event, ///< "event 41,207", "before the first event"
        Sentence, ///< `sentence`, worded as the one around it
    };

    Kind kind = Kind::Text;
    std::int64_t value = 0;
    std::string text = {};
    bool strong = false; ///< stands out
    std::optional<EventIndex> link = {}; ///< the event that a click on it goes to
    std::string line = {}; ///< the line of code that a click on it selects, by its label
    Sentence sentence = {};
};

[[nodiscard]] SentenceArgument asBytes(std::int64_t bytes);
[[nodiscard]] SentenceArgument asExactBytes(std::int64_t bytes);
[[nodiscard]] SentenceArgument asCount(std::int64_t count);
[[nodiscard]] SentenceArgument asAddress(std::uint64_t address);
[[nodiscard]] SentenceArgument asEvent(EventIndex event);
[[nodiscard]] SentenceArgument asEvents(std::int64_t count); ///< "1 event", "1,234 events"

/// What stands for itself: names and paths as texts, whole numbers as numbers.
[[nodiscard]] SentenceArgument argument(std::string text);
[[nodiscard]] SentenceArgument argument(Sentence sentence);
[[nodiscard]] inline SentenceArgument argument(std::string_view text)
{
    return argument(std::string(text));
}
[[nodiscard]] inline SentenceArgument argument(const char* text)
{
    return argument(std::string(text));
}
[[nodiscard]] inline SentenceArgument argument(const std::filesystem::path& path)
{
    return argument(path.string());
}
[[nodiscard]] inline SentenceArgument argument(SentenceArgument argument)
{
    return argument;
}
template <std::integral Number>
requires(!std::same_as<Number, bool> && !std::same_as<Number, char>) [[nodiscard]] SentenceArgument
    argument(Number number)
{
    if (!std::in_range<std::int64_t>(number))
        return argument(std::to_string(number));
    return { .kind = SentenceArgument::Kind::Number, .value = static_cast<std::int64_t>(number) };
}

template <class... Arguments>
[[nodiscard]] Sentence say(EnglishOf<sizeof...(Arguments)> english, Arguments&&... arguments)
{
    std::vector<SentenceArgument> all;
    all.reserve(sizeof...(arguments));
    (all.push_back(argument(std::forward<Arguments>(arguments))), ...);
    return Sentence(english, std::move(all));
}

/// `one` where `count` is 1, else `many`; their "%1" is the count.
[[nodiscard]] Sentence sayCounted(EnglishOf<1> one, EnglishOf<1> many, std::int64_t count);

/// The words of somebody else - the system, another program, a file -, which nobody translates.
[[nodiscard]] Sentence verbatim(std::string text);

/// What the moment after an event is called: "event 41,207", "before the first event".
[[nodiscard]] Sentence nameOf(EventIndex event);

} // namespace strata::model
