// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/texts.h"

#include "model/base/shell.h"
#include "model/base/words.h"
#include "model/trace/filter/grouping.h"

#include <QCoreApplication>
#include <QDir>
#include <QRegularExpression>
#include <QStringList>

#include <cstdlib>

namespace strata::views::text {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Texts)
};

} // namespace

std::string wording(std::string_view english)
{
    return QCoreApplication::translate("Model", std::string(english).c_str()).toStdString();
}

QString said(const model::Sentence& sentence)
{
    return utf8(sentence.text(wording));
}

QString said(const model::Sentence& sentence, model::English what, const QString& instead)
{
    return utf8(sentence.text([&](std::string_view english) {
        return english == what.text() ? instead.toStdString() : wording(english);
    }));
}

QString said(model::English english)
{
    return said(model::Sentence(english));
}

QString said(const model::Error& error)
{
    return utf8(error.text(wording));
}

std::string english(const model::Sentence& sentence)
{
    return sentence.text();
}

std::string english(const model::Error& error)
{
    return error.text();
}

QString utf8(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString recordLine()
{
    return QStringLiteral("torch.cuda.memory._record_memory_history(max_entries=1_000_000)");
}

QString stepLines()
{
    return QStringLiteral("with torch.profiler.record_function(f\"step {step}\"):\n    ...");
}

QString recordLines()
{
    return recordLine()
        + QStringLiteral("\ntrain()  # your program, or a few steps of it\n"
                         "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n");
}

QString bytes(std::int64_t bytes)
{
    return utf8(model::formatBytes(bytes));
}

QString exactBytes(std::int64_t bytes)
{
    return utf8(model::formatExactBytes(bytes));
}

QString count(std::int64_t count)
{
    return utf8(model::formatCount(count));
}

QString counted(std::int64_t count, const QString& one, const QString& many)
{
    return count == 1 ? one : many.arg(text::count(count));
}

QString share(std::int64_t part, std::int64_t whole)
{
    return utf8(model::formatShare(part, whole));
}

QString duration(std::int64_t nanoseconds)
{
    return utf8(model::formatDuration(nanoseconds)).replace(QLatin1String(" us"), QStringLiteral(" µs"));
}

QString withMicro(QString said)
{
    static const QRegularExpression kUnit(QStringLiteral("(?<=[0-9])[ \\x{a0}]us\\b"));
    return said.replace(kUnit, QStringLiteral("\u00a0µs"));
}

QString seconds(std::int64_t nanoseconds)
{
    const std::int64_t us = nanoseconds / 1000;
    const std::int64_t whole = std::abs(us);
    return QStringLiteral("%1%2.%3")
        .arg(us < 0 ? QStringLiteral("-") : QString())
        .arg(count(whole / 1'000'000))
        .arg(whole % 1'000'000, 6, 10, QLatin1Char('0'));
}

QString address(std::uint64_t address)
{
    return utf8(model::formatAddress(address));
}

QString event(model::EventIndex event)
{
    return said(model::nameOf(event));
}

QString instant(const model::Clock& clock, model::EventIndex event)
{
    return instant(
        event, clock.hasTimes() ? std::optional(clock.timeNs(event) - clock.startNs()) : std::nullopt);
}

QString instant(model::EventIndex event, std::optional<std::int64_t> sinceStartNs)
{
    if (event < 0 || !sinceStartNs)
        return text::event(event);
    return Texts::tr("event %1 at %2").arg(count(event), duration(*sinceStartNs));
}

QString pointed(const model::Clock& clock, model::EventIndex event, std::int64_t pointerSinceStartNs)
{
    // The event may be later than the pointer within one column of pixels.
    const std::int64_t own = event < 0 ? pointerSinceStartNs
                                       : std::max(pointerSinceStartNs, clock.timeNs(event) - clock.startNs());
    return Texts::tr("%1; %2").arg(duration(own), instant(clock, event));
}

QString stream(const model::Recording& recording, model::StreamIndex stream)
{
    if (stream >= recording.streams.size())
        return {};
    const std::int64_t handle = recording.streams[stream];
    constexpr std::int64_t kLargestNumber = 0xffff; // beyond it, a stream is a pointer
    return handle >= 0 && handle <= kLargestNumber ? QString::number(handle)
                                                   : address(static_cast<std::uint64_t>(handle));
}

QString stack(const model::Recording& recording, model::StackId stack)
{
    QStringList lines;
    for (const model::FrameId id : recording.stacks.stack(stack)) {
        const QString where = utf8(model::frameLabel(recording, id));
        const QString function = utf8(recording.strings[recording.stacks.frame(id).function]);
        lines += function.isEmpty() || function == where ? where : function + QStringLiteral("  ") + where;
    }
    return lines.join(QLatin1Char('\n'));
}

QString shortened(const QString& text, qsizetype most, Keep keep)
{
    if (text.size() <= most)
        return text;
    const QChar dots(0x2026);
    qsizetype kept = most - 1;
    // A character of two units stays whole or goes.
    if (keep == Keep::Beginning) {
        if (kept > 0 && text[kept - 1].isHighSurrogate())
            --kept;
        return text.left(kept) + dots;
    }
    if (kept > 0 && text[text.size() - kept].isLowSurrogate())
        --kept;
    return dots + text.right(kept);
}

QString shortened(std::string_view text, qsizetype most)
{
    constexpr std::size_t kLongestCharacter = 4; // so that a character cut in two is one of those that go
    return shortened(utf8(text.substr(0, kLongestCharacter * (static_cast<std::size_t>(most) + 1))), most,
        Keep::Beginning);
}

QString homeShort(const QString& path)
{
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
}

QString shellQuoted(const QString& text)
{
    return QString::fromStdString(model::shellQuoted(text.toStdString()));
}

QString settingsVariable(std::string_view settings, std::string_view variable)
{
    return utf8(variable) + QLatin1Char('=') + shellQuoted(utf8(settings));
}

} // namespace strata::views::text
