// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/fact_column.h"

#include "model/base/wrap.h"
#include "views/pages/parts/fold_section.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/findings_list.h"
#include "views/pages/summary/summary_jumps.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kPartLabelWidth = 144; // of the longest: "free in segments, end"
constexpr int kValueWidth = 72;
constexpr int kFactHeight = 20;

/// Checks that can fail.
std::int64_t breachKinds()
{
    std::int64_t count = 0;
    for (std::size_t check = 0; check < model::kCheckCount; ++check)
        count += model::isBreach(static_cast<model::Check>(check)) ? 1 : 0;
    return count;
}

/// Label, value, exact figure in grey: three columns, figures right-aligned. Words take the room of both.
template <class OnEvent>
QGridLayout* factGrid(const std::vector<Fact>& facts, const QFont& font, const OnEvent& onEvent)
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kMargin);
    grid->setVerticalSpacing(0);
    const double scale = scaleOf(font);
    grid->setColumnMinimumWidth(0, qRound(kPartLabelWidth * scale)); // one grid over all sections
    grid->setColumnMinimumWidth(1, qRound(kValueWidth * scale));
    grid->setColumnStretch(2, 1);
    const QFont numbers = numberFont(font);
    int line = 0;
    for (const Fact& fact : facts) {
        grid->setRowMinimumHeight(line, qRound(kFactHeight * scale));
        QLabel* label = textLabel(fact.label, true);
        label->setToolTip(aboutWord(fact.label));
        // A name has no place where a line can end: a long one has a line of its own.
        const bool isAlone = fact.words && !fact.label.contains(QLatin1Char(' '))
            && QFontMetrics(font).horizontalAdvance(fact.label) > grid->columnMinimumWidth(0);
        grid->addWidget(label, line, 0, 1, isAlone ? 3 : 1, fact.words ? Qt::AlignTop : Qt::AlignVCenter);
        label->setWordWrap(fact.words);
        if (fact.words) {
            QLabel* words = textLabel(fact.value);
            for (QLabel* part : { label, words }) // in line with the rows of one line
                part->setContentsMargins(
                    0, (qRound(kFactHeight * scale) - part->fontMetrics().height()) / 2, 0, 0);
            line += isAlone ? 1 : 0;
            grid->addWidget(words, line++, 1, 1, 2, Qt::AlignTop);
            continue;
        }
        if (fact.event) {
            QPushButton* value = linkButton(fact.value);
            value->setFont(numbers);
            value->setToolTip(QObject::tr("Show this instant"));
            QObject::connect(
                value, &QPushButton::clicked, value, [onEvent, event = *fact.event] { onEvent(event); });
            grid->addWidget(value, line, 1, Qt::AlignRight);
        } else {
            QLabel* value = textLabel(fact.value);
            value->setFont(numbers);
            value->setWordWrap(false);
            value->setContentsMargins(0, 0, 5, 0); // in line with the text of links
            grid->addWidget(value, line, 1, Qt::AlignRight);
        }
        QLabel* exact = textLabel(fact.exact, true);
        exact->setFont(sized(numbers, kAxisPx));
        exact->setWordWrap(false);
        grid->addWidget(exact, line++, 2, Qt::AlignLeft | Qt::AlignVCenter);
    }
    return grid;
}

} // namespace

FactColumn::FactColumn(QWidget& page, SummaryJumps& jumps, std::function<void()> unfoldedChanged)
    : m_page(page)
    , m_jumps(jumps)
    , m_unfoldedChanged(std::move(unfoldedChanged))
{
}

void FactColumn::fill(
    std::size_t number, QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    using Fill = void (FactColumn::*)(QVBoxLayout&, const SummaryData&, const Palette&);
    static constexpr Fill kFills[] = { &FactColumn::fillIntegrity, &FactColumn::fillWaste,
        &FactColumn::fillNumbers, &FactColumn::fillSimulation, &FactColumn::fillDriver,
        &FactColumn::fillHostMemory, &FactColumn::fillSettings };
    static_assert(std::size(kFills) == kParts);
    (this->*kFills[number])(part, device, palette);
}

void FactColumn::fillIntegrity(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const DeviceBrief brief{ device.summary->device, &device.summary->totals, device.findings };
    const Integrity integrity = integrityOf({ &brief, 1 });
    QString essence = integrity.text();
    if (device.findings.empty())
        essence = tr("%1, all %2 checks hold").arg(essence, text::count(breachKinds()));
    FoldSection* fold = addFold(
        part, palette, QStringLiteral("integrity"), tr("Integrity"), essence, !device.findings.empty());
    auto* findings = new FindingsList({ &brief, 1 }, palette);
    QObject::connect(findings, &FindingsList::eventChosen, &m_jumps,
        [&jumps = m_jumps](int, model::EventIndex event) { jumps.instant(event); });
    fold->inside().addWidget(findings);
}

FoldSection* FactColumn::addFold(QVBoxLayout& part, const Palette& palette, const QString& name,
    const QString& title, const QString& essence, bool wrong)
{
    auto* fold = new FoldSection(title, essence, palette);
    fold->setObjectName(name);
    fold->setProperty("wrong", wrong);
    fold->setOpen(wrong ? !m_folded.contains(name) : m_unfolded.contains(name));
    QObject::connect(fold, &FoldSection::foldedByUser, &m_page, [this, name, wrong](bool open) {
        QStringList& kept = wrong ? m_folded : m_unfolded;
        kept.removeAll(name);
        if (open != wrong)
            kept.append(name);
        if (!wrong)
            m_unfoldedChanged();
    });
    part.addWidget(fold);
    return fold;
}

void FactColumn::setUnfolded(const QStringList& parts)
{
    m_unfolded = parts;
    for (FoldSection* fold : m_page.findChildren<FoldSection*>())
        if (!fold->property("wrong").toBool())
            fold->setOpen(parts.contains(fold->objectName()));
}

void FactColumn::addFacts(QVBoxLayout& part, const std::vector<Fact>& facts)
{
    part.addLayout(
        factGrid(facts, m_page.font(), [this](model::EventIndex event) { m_jumps.instant(event); }));
}

void FactColumn::fillWaste(QVBoxLayout& part, const SummaryData& device, const Palette& /*palette*/)
{
    const std::vector<Fact> waste = wasteFacts(device);
    if (waste.empty())
        return;
    part.addWidget(headingLabel(
        device.summary->totals.events > 0 ? tr("Not used at the peak") : tr("Not used by tensors")));
    if (const std::int64_t reserved = device.summary->peakUse.reservedBytes; reserved > 0)
        part.addWidget(textLabel(tr("Of %1 reserved").arg(text::bytes(reserved)), true));
    addFacts(part, waste);
}

void FactColumn::fillNumbers(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const model::DeviceSummary& summary = *device.summary;
    const QString events = text::counted(summary.totals.events, tr("1 event"), tr("%1 events"));
    const bool times = summary.firstTimeNs && summary.latestTimeNs;
    FoldSection* fold = addFold(part, palette, QStringLiteral("numbers"), tr("Numbers"),
        times ? tr("%1 in %2")
                    .arg(events, text::duration(model::wrapSub(*summary.latestTimeNs, *summary.firstTimeNs)))
            : summary.totals.events > 0 || device.recording->refusal
            ? events
            : tr("%1 reserved, no events").arg(text::bytes(summary.totals.reservedBytesEnd)),
        false);
    addFacts(fold->inside(), numberFacts(device));
}

void FactColumn::fillDriver(QVBoxLayout& part, const SummaryData& device, const Palette& /*palette*/)
{
    const std::vector<Fact> facts = driverFacts(device);
    if (facts.empty())
        return;
    part.addWidget(headingLabel(tr("Driver, at most")));
    addFacts(part, facts);
}

void FactColumn::fillHostMemory(QVBoxLayout& part, const SummaryData& device, const Palette& /*palette*/)
{
    const std::vector<Fact> host = hostFacts(*device.recording);
    if (host.empty())
        return;
    part.addWidget(headingLabel(tr("Pinned host memory")));
    addFacts(part, host);
}

void FactColumn::fillSimulation(QVBoxLayout& part, const SummaryData& device, const Palette& /*palette*/)
{
    const std::vector<Fact> simulation = simulationFacts(*device.recording);
    if (simulation.empty())
        return;
    part.addWidget(headingLabel(tr("Simulated device")));
    addFacts(part, simulation);
}

void FactColumn::fillSettings(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const std::vector<SettingFact> all = settingFacts(*device.recording);
    const auto unusual = std::ranges::count(all, false, &SettingFact::usual);
    FoldSection* fold = addFold(part, palette, QStringLiteral("settings"), tr("Allocator settings"),
        all.empty() ? tr("not recorded")
            : unusual == 0
            ? tr("all at their defaults")
            : tr("%1 of %2 not at the default").arg(text::count(unusual), text::count(std::ssize(all))),
        unusual > 0);
    QVBoxLayout& inside = fold->inside();
    if (all.empty())
        inside.addWidget(textLabel(tr("None in this snapshot: PyTorch writes them since 2.3."), true));
    std::vector<Fact> shown, folded;
    for (const SettingFact& fact : all)
        (fact.usual && unusual > 0 ? folded : shown).push_back({ fact.key, fact.value, {}, {}, true });
    addFacts(inside, shown);
    if (folded.empty())
        return;
    auto* rest = new QWidget;
    auto* below = new QVBoxLayout(rest);
    below->setContentsMargins(0, 0, 0, 0);
    addFacts(*below, folded);
    QPushButton* more
        = linkButton(tr("Show %n more, all at their defaults", nullptr, static_cast<int>(folded.size())));
    more->setProperty("atEdge", true); // in line with what stands above it
    QObject::connect(more, &QPushButton::clicked, rest, [this, rest, more] {
        m_allSettings = true;
        rest->show();
        more->hide();
    });
    inside.addWidget(more);
    inside.addWidget(rest);
    (m_allSettings ? static_cast<QWidget*>(more) : rest)->hide();
}

} // namespace strata::views
