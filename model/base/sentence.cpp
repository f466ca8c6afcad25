// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/sentence.h"

#include "model/base/units.h"

namespace strata::model {

namespace {

std::string worded(std::string_view english, const Wording& word)
{
    return word ? word(english) : std::string(english);
}

std::string textOf(const SentenceArgument& argument, const Wording& word)
{
    switch (argument.kind) {
    case SentenceArgument::Kind::Text:
        return argument.text;
    case SentenceArgument::Kind::Bytes:
        return formatBytes(argument.value);
    case SentenceArgument::Kind::Count:
        return formatCount(argument.value);
    case SentenceArgument::Kind::Event:
        return argument.value < 0 ? worded(kBeforeFirstText, word)
                                  : plainText(piecesOf(worded(kEventText, word),
                                      std::vector{ SentenceArgument{ .kind = SentenceArgument::Kind::Count,
                                          .value = argument.value } }));
    }
    return {};
}

} // namespace

std::vector<SentencePiece> piecesOf(
    std::string_view english, std::span<const SentenceArgument> arguments, const Wording& word)
{
    const std::string wording = worded(english, word);
    std::vector<SentencePiece> pieces;
    bool strong = false;
    std::string words;
    const auto endWords = [&] {
        if (!words.empty())
            pieces.push_back({ std::move(words), strong, {} });
        words.clear();
    };
    for (std::size_t i = 0; i < wording.size(); ++i) {
        const char next = i + 1 < wording.size() ? wording[i + 1] : '\0';
        if (wording[i] == '*') {
            endWords();
            strong = !strong;
        } else if (wording[i] == '%' && next >= '1' && next <= '9'
            && static_cast<std::size_t>(next - '1') < arguments.size()) {
            endWords();
            const SentenceArgument& argument = arguments[static_cast<std::size_t>(next - '1')];
            pieces.push_back({ textOf(argument, word), argument.strong || strong, argument.link });
            ++i;
        } else {
            words += wording[i];
        }
    }
    endWords();
    return pieces;
}

std::string plainText(std::span<const SentencePiece> pieces)
{
    std::string text;
    for (const SentencePiece& piece : pieces)
        text += piece.text;
    return text;
}

} // namespace strata::model
