// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/base/units.h"
#include "model/timeline/clock.h"
#include "model/trace/recording.h"

#include <QString>

#include <optional>
#include <string>
#include <string_view>

/// Figures, instants and names as every part of the window writes them. Any thread.
namespace strata::views::text {

/// What the model says (model/base/sentence.h), in the language of the window.
[[nodiscard]] QString said(const model::Sentence& sentence);
/// With `instead` for each `what` that it speaks of.
[[nodiscard]] QString said(const model::Sentence& sentence, model::English what, const QString& instead);
[[nodiscard]] QString said(model::English english);
[[nodiscard]] QString said(const model::Error& error); ///< all of it: "WHERE: WHAT: WHAT TO DO"
[[nodiscard]] std::string wording(std::string_view english); ///< a model::Wording
/// In English, for tables that are kept as files, sorted and searched.
[[nodiscard]] std::string english(const model::Sentence& sentence);
[[nodiscard]] std::string english(const model::Error& error);

/// Bytes of a file that claim to be UTF-8; what is not is replaced.
[[nodiscard]] QString utf8(std::string_view text);

/// The line that records all that Strata can show, stacks of backward included: the one that is recommended
/// everywhere.
[[nodiscard]] QString recordLine();
/// The lines that name a step of a program of one's own.
[[nodiscard]] QString stepLines();
/// recordLine(), a place for the program, and the line that writes the snapshot; ends with a line break.
[[nodiscard]] QString recordLines();

[[nodiscard]] QString bytes(std::int64_t bytes); ///< "11.0 GiB"
[[nodiscard]] QString exactBytes(std::int64_t bytes); ///< "1,234,567 B"
[[nodiscard]] QString count(std::int64_t count); ///< "1,234,567"
/// `one`, or `many` with the number in place of %1.
[[nodiscard]] QString counted(std::int64_t count, const QString& one, const QString& many);
[[nodiscard]] QString share(std::int64_t part, std::int64_t whole); ///< "42.3 %": model::formatShare()
[[nodiscard]] QString duration(std::int64_t nanoseconds); ///< "3.2 ms"
/// The model writes "us", for terminals; the window's figures are "µs", which no line break parts from them.
[[nodiscard]] QString withMicro(QString said);
/// Seconds to the microsecond, for columns: "12.384123".
[[nodiscard]] QString seconds(std::int64_t nanoseconds);
[[nodiscard]] QString address(std::uint64_t address); ///< "0x7f3a00000000"

/// "event 41,207", "before the first event".
[[nodiscard]] QString event(model::EventIndex event);
/// The same and when: "event 41,207 at 12.384 s", since the first event; the event alone where there are no
/// times.
[[nodiscard]] QString instant(const model::Clock& clock, model::EventIndex event);
[[nodiscard]] QString instant(model::EventIndex event, std::optional<std::int64_t> sinceStartNs);
/// What a pointer on an axis of time reads, its own time first: "390 ms; event 35 at 3.5 ms".
[[nodiscard]] QString pointed(
    const model::Clock& clock, model::EventIndex event, std::int64_t pointerSinceStartNs);

/// A stream as programs call it: its number, or its handle as an address; empty for none.
[[nodiscard]] QString stream(const model::Recording& recording, model::StreamIndex stream);
/// One frame a line, innermost first: "forward  model.py:57".
[[nodiscard]] QString stack(const model::Recording& recording, model::StackId stack);

/// Which end of a text says more: that of a path, the beginning of a command.
enum class Keep { Beginning, End };
/// `text` in at most `most` characters, with "…" in place of what is left out.
[[nodiscard]] QString shortened(const QString& text, qsizetype most, Keep keep);
/// The beginning of a text of a file, see utf8(). O(most), however long the text is.
[[nodiscard]] QString shortened(std::string_view text, qsizetype most);
/// A path below the user's home as "~/...".
[[nodiscard]] QString homeShort(const QString& path);
/// `text` as one argument of a POSIX shell.
[[nodiscard]] QString shellQuoted(const QString& text);
/// What is to be put in front of a command: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True". `variable`: of
/// another accelerator than CUDA's.
[[nodiscard]] QString settingsVariable(
    std::string_view settings, std::string_view variable = "PYTORCH_CUDA_ALLOC_CONF");

} // namespace strata::views::text
