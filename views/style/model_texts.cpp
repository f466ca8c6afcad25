// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/texts.h"

#include <QCoreApplication>

#include <array>

namespace strata::views::text {

namespace {

// All that the model words for people, where lupdate finds it; tests/gui/style/test_model_texts.cpp names
// what is missing.
constexpr std::array kModelTexts{
    // Moments: model/base/sentence.h
    QT_TRANSLATE_NOOP("Model", "event %1"),
    QT_TRANSLATE_NOOP("Model", "before the first event"),
    // Groupings: model/trace/grouping.cpp
    QT_TRANSLATE_NOOP("Model", "Line of code"),
    QT_TRANSLATE_NOOP("Model", "Line"),
    QT_TRANSLATE_NOOP("Model", "Filter by its line"),
    QT_TRANSLATE_NOOP("Model", "Site (whole stack)"),
    QT_TRANSLATE_NOOP("Model", "Site"),
    QT_TRANSLATE_NOOP("Model", "Filter by its stack"),
    QT_TRANSLATE_NOOP("Model", "Stream"),
    QT_TRANSLATE_NOOP("Model", "Filter by its stream"),
    QT_TRANSLATE_NOOP("Model", "Pool"),
    QT_TRANSLATE_NOOP("Model", "Filter by its pool"),
    QT_TRANSLATE_NOOP("Model", "Size of a block"),
    QT_TRANSLATE_NOOP("Model", "Size"),
    QT_TRANSLATE_NOOP("Model", "Filter by its size"),
    // Checks: model/trace/findings.cpp
    QT_TRANSLATE_NOOP("Model", "Blocks that the trace leaves live are missing from the segments"),
    QT_TRANSLATE_NOOP("Model", "Blocks of the segments differ from what the trace says"),
    QT_TRANSLATE_NOOP("Model", "Allocations at the address of a live block"),
    QT_TRANSLATE_NOOP("Model", "Allocations over a part of a live block"),
    QT_TRANSLATE_NOOP("Model", "Frees of blocks that are already freed"),
    QT_TRANSLATE_NOOP("Model", "Frees larger than their block"),
    QT_TRANSLATE_NOOP("Model", "Sums of a segment disagree with its blocks"),
    QT_TRANSLATE_NOOP("Model", "Segments share addresses"),
    QT_TRANSLATE_NOOP("Model", "More is requested than reserved"),
    QT_TRANSLATE_NOOP("Model", "More is allocated than reserved"),
    QT_TRANSLATE_NOOP("Model", "More is active than reserved"),
    QT_TRANSLATE_NOOP("Model", "The recorder could not keep some events"),
    QT_TRANSLATE_NOOP("Model", "The allocator of the process tells of no event"),
    QT_TRANSLATE_NOOP("Model", "The file ends early"),
    QT_TRANSLATE_NOOP("Model", "Recording began after memory was in use"),
    QT_TRANSLATE_NOOP("Model", "The recorder's ring was full: older events are gone"),
    QT_TRANSLATE_NOOP("Model", "Time goes backwards"),
    QT_TRANSLATE_NOOP("Model", "Freed blocks still wait for another stream at the end"),
    QT_TRANSLATE_NOOP("Model", "A part of a longer recording"),
    QT_TRANSLATE_NOOP("Model", "No events were recorded"),
    QT_TRANSLATE_NOOP("Model", "Keys or actions that Strata does not know"),
    // Verdicts: model/analysis/verdict.cpp
    QT_TRANSLATE_NOOP("Model", "*Out of memory* at %1: the program asked for %2, the driver had %3 free."),
    QT_TRANSLATE_NOOP("Model",
        "*Out of memory*, %4 times; the last at %1: the program asked for %2, the driver had %3 free."),
    QT_TRANSLATE_NOOP("Model", "*Out of memory* at %1: %4 asked for %2, the driver had %3 free."),
    QT_TRANSLATE_NOOP("Model",
        "*Out of memory*, %4 times; the last at %1: %5 asked for %2, the driver had %3 free."),
    QT_TRANSLATE_NOOP("Model", "PyTorch had reserved %1, of it %2 free inside segments."),
    QT_TRANSLATE_NOOP("Model", "PyTorch had reserved %1, of it at most %2 free inside segments."),
    QT_TRANSLATE_NOOP("Model", "Biggest: %1 %2."),
    QT_TRANSLATE_NOOP("Model", "Biggest: %1 %2, %3 %4."),
    QT_TRANSLATE_NOOP("Model", "Biggest: %1 %2, %3 %4, %5 %6."),
    QT_TRANSLATE_NOOP("Model", "Held %1 reserved, %2 of it requested, when the snapshot was taken."),
    QT_TRANSLATE_NOOP("Model", "No events were recorded, so the peak before it is not known."),
    QT_TRANSLATE_NOOP("Model", "The events move no memory, so the peak before it is not known."),
    QT_TRANSLATE_NOOP(
        "Model", "The allocator of this process tells of no event: only the driver's totals are known."),
    QT_TRANSLATE_NOOP("Model", "The process used %2 at most, all processes %1."),
    QT_TRANSLATE_NOOP("Model", "All processes together used %1 at most."),
    QT_TRANSLATE_NOOP("Model", "Needs %1 (peak %2 at %3)."),
    QT_TRANSLATE_NOOP("Model", "Needs at least %1 (peak %2 at %3 in what was recorded)."),
    QT_TRANSLATE_NOOP("Model", "Held %1 at most while it was recorded (peak %2 at %3)."),
    QT_TRANSLATE_NOOP("Model", "Held %1 when the recording began, %2 of it requested, and never more."),
    QT_TRANSLATE_NOOP(
        "Model", "Older events are gone, so the peak before is not known: record with a larger max_entries."),
    QT_TRANSLATE_NOOP("Model", "What was before is not known."),
    QT_TRANSLATE_NOOP("Model",
        "Biggest: %1 from before the recording began: start it before the model is built to see who."),
    QT_TRANSLATE_NOOP(
        "Model", "Biggest: %1 without a recorded stack: record with stacks=\"all\" to see who."),
    QT_TRANSLATE_NOOP("Model", "*Totals are not exact*: one check failed."),
    QT_TRANSLATE_NOOP("Model", "*Totals are not exact*: %1 checks failed."),
    QT_TRANSLATE_NOOP("Model", "Recorded on a simulated %1."),
    QT_TRANSLATE_NOOP("Model", "Recorded on a simulated %1 of %2."),
};

} // namespace

QString translated(std::string_view english)
{
    return QCoreApplication::translate("Model", std::string(english).c_str());
}

std::string wording(std::string_view english)
{
    return translated(english).toStdString();
}

std::span<const char* const> modelTexts()
{
    return kModelTexts;
}

} // namespace strata::views::text
