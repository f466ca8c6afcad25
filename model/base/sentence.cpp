// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/words.h"

#include "model/base/units.h"

namespace strata::model {

namespace {

using Kind = SentenceArgument::Kind;
using Pieces = std::vector<SentencePiece>;

std::string worded(std::string_view english, const Wording& word)
{
    return word ? word(english) : std::string(english);
}

std::string textOf(const SentenceArgument& argument, const Wording& word)
{
    switch (argument.kind) {
    case Kind::Text:
        return argument.text;
    case Kind::Bytes:
        return formatBytes(argument.value);
    case Kind::ExactBytes:
        return formatExactBytes(argument.value);
    case Kind::Count:
        return formatCount(argument.value);
    case Kind::Number:
        return std::to_string(argument.value);
    case Kind::Address:
        return formatAddress(static_cast<std::uint64_t>(argument.value));
    case Kind::Event:
        return nameOf(argument.value).text(word);
    case Kind::Sentence:
        return argument.sentence.text(word);
    }
    return {};
}

/// Puts `arguments` where `wording` has their places; a place of none stays as it is written.
Pieces filledIn(std::string_view wording, std::span<const SentenceArgument> arguments, const Wording& word)
{
    Pieces pieces;
    std::string words;
    bool strong = false;
    const auto endWords = [&] {
        if (!words.empty())
            pieces.push_back({ std::move(words), strong, {} });
        words.clear();
    };
    for (std::size_t i = 0; i < wording.size(); ++i) {
        const char next = i + 1 < wording.size() ? wording[i + 1] : '\0';
        if (wording[i] == '*' && next == '*') {
            words += wording[i++];
        } else if (wording[i] == '*') {
            endWords();
            strong = !strong;
        } else if (wording[i] == '%' && next >= '1' && next <= '9'
            && static_cast<std::size_t>(next - '1') < arguments.size()) {
            endWords();
            const SentenceArgument& argument = arguments[static_cast<std::size_t>(next - '1')];
            pieces.push_back(
                { textOf(argument, word), argument.strong || strong, argument.link, argument.line });
            ++i;
        } else {
            words += wording[i];
        }
    }
    endWords();
    return pieces;
}

} // namespace

Sentence::Sentence() = default;

Sentence::Sentence(English english)
    : m_english(english.text())
{
}

Sentence::Sentence(English english, std::vector<SentenceArgument> arguments)
    : m_english(english.text())
    , m_arguments(std::move(arguments))
{
}

bool Sentence::empty() const
{
    return m_english.empty() && m_arguments.empty();
}

Pieces Sentence::allPieces(const Wording& word) const
{
    if (empty())
        return {};
    if (m_english.empty()) // verbatim()
        return { { m_arguments.front().text, false, {} } };
    return filledIn(worded(m_english, word), m_arguments, word);
}

std::string Sentence::wholeText(const Wording& word) const
{
    return plainText(allPieces(word));
}

SentenceArgument asBytes(std::int64_t bytes)
{
    return { .kind = Kind::Bytes, .value = bytes };
}

SentenceArgument asExactBytes(std::int64_t bytes)
{
    return { .kind = Kind::ExactBytes, .value = bytes };
}

SentenceArgument asCount(std::int64_t count)
{
    return { .kind = Kind::Count, .value = count };
}

SentenceArgument asAddress(std::uint64_t address)
{
    return { .kind = Kind::Address, .value = static_cast<std::int64_t>(address) };
}

SentenceArgument asEvent(EventIndex event)
{
    return { .kind = Kind::Event, .value = event };
}

SentenceArgument asEvents(std::int64_t count)
{
    return argument(sayCounted("%1 event", "%1 events", count));
}

SentenceArgument argument(std::string text)
{
    return { .text = std::move(text) };
}

SentenceArgument argument(Sentence sentence)
{
    return { .kind = Kind::Sentence, .sentence = std::move(sentence) };
}

Sentence sayCounted(EnglishOf<1> one, EnglishOf<1> many, std::int64_t count)
{
    return Sentence(count == 1 ? one : many, { asCount(count) });
}

Sentence verbatim(std::string text)
{
    return text.empty() ? Sentence() : Sentence(English{}, { argument(std::move(text)) });
}

Sentence nameOf(EventIndex event)
{
    return event < 0 ? say("before the first event") : say("event %1", asCount(event));
}

Pieces piecesOf(std::span<const Sentence> sentences, const Wording& word)
{
    Pieces all;
    for (const Sentence& sentence : sentences) {
        if (!all.empty())
            all.push_back({ " ", false, {} });
        for (SentencePiece& piece : sentence.pieces(word))
            all.push_back(std::move(piece));
    }
    return all;
}

std::string plainText(std::span<const SentencePiece> pieces)
{
    std::string text;
    for (const SentencePiece& piece : pieces)
        text += piece.text;
    return text;
}

std::string textOf(std::span<const Sentence> sentences, const Wording& word)
{
    return plainText(piecesOf(sentences, word));
}

} // namespace strata::model
