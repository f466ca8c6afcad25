// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_page.h"

#include "model/cards/fits.h"
#include "tests/gui/whatif/batch_run.h"
#include "tests/gui/whatif/shown_what_if_page.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_device_card.h"
#include "views/pages/whatif/what_if_recordings_card.h"
#include "views/pages/whatif/what_if_sequence_card.h"
#include "views/pages/whatif/what_if_settings_card.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/legend.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/run_chart.h"
#include "views/widgets/whatif/what_if_tables.h"

#include <QApplication>
#include <QBuffer>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QSvgRenderer>
#include <QTest>
#include <QTextDocumentFragment>

using namespace strata;
using namespace strata::views;

namespace {

class WhatIfPageTest : public test::ShownWhatIfPage {
protected:
    WhatIfPageTest()
        : ShownWhatIfPage({ 1000, 700 })
    {
    }
    [[nodiscard]] WhatIfBatchCard& batch() { return m_page.card<WhatIfBatchCard>(); }
    [[nodiscard]] WhatIfSettingsCard& settings() { return m_page.card<WhatIfSettingsCard>(); }
    [[nodiscard]] WhatIfDeviceCard& device() { return m_page.card<WhatIfDeviceCard>(); }
    [[nodiscard]] WhatIfRecordingsCard& recordings() { return m_page.card<WhatIfRecordingsCard>(); }
    [[nodiscard]] QString sentence() const
    {
        return QTextDocumentFragment::fromHtml(m_page.sentenceText())
            .toPlainText()
            .replace(QChar(0xa0), QLatin1Char(' '));
    }
};

TEST_F(WhatIfPageTest, BeginsWithWhatWasRecorded)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    EXPECT_TRUE(sentence().startsWith(
        QStringLiteral("As it was recorded, it reserves up to %1. It fits on the recorded")
            .arg(text::bytes(prediction().recorded.reservedBytesPeak))))
        << qPrintable(sentence());
    EXPECT_TRUE(sentence().contains(QStringLiteral(" The smallest card with the kernels of A100-80GB that it fits on is ")));
    for (const WhatIfCard* card : m_page.cards())
        EXPECT_FALSE(card->isOn()) << qPrintable(card->accessibleName());
    ASSERT_TRUE(m_page.chart().picture());
    EXPECT_EQ(m_page.chart().picture()->predicted, m_page.chart().picture()->recorded);
    EXPECT_FALSE(m_page.chart().picture()->isAsked);
    EXPECT_GT(m_page.table(WhatIfPage::Alternatives).source()->rowCount(), 3u);
    EXPECT_EQ(settings().settings(), m_document.device()->replay->report->settingsText);
}

TEST_F(WhatIfPageTest, MovingTheSliderAsks)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    EXPECT_FALSE(batch().slider().isEnabled()); // nothing tells how many items were recorded
    EXPECT_TRUE(batch().note().startsWith(QStringLiteral("Say how many items")));
    batch().recorded().setValue(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(batch().slider().isEnabled());
    EXPECT_EQ(batch().asked().value(), 8);
    EXPECT_FALSE(batch().isOn());
    batch().slider().setValue(2 * WhatIfBatchCard::kOctave);
    EXPECT_TRUE(batch().isOn()); // who moves it wants it
    EXPECT_EQ(batch().asked().value(), 16);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(scenario().changes.size(), 1u);
    EXPECT_EQ(scenario().changes.front().text, "batch=16");
    EXPECT_EQ(prediction().batchAfter, 16);
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("With batch=16 it would reserve up to")))
        << qPrintable(sentence());
    EXPECT_EQ(m_page.chart().picture()->most, prediction().most);
    EXPECT_GT(m_page.table(WhatIfPage::Blocks).source()->rowCount(), 1u);
    batch().asked().setValue(64);
    EXPECT_EQ(batch().slider().value(), batch().slider().maximum());
    QTest::mouseClick(&batch().onSwitch(), Qt::LeftButton, {}, QPoint(8, batch().onSwitch().height() / 2));
    EXPECT_FALSE(batch().isOn());
    EXPECT_TRUE(scenario().changes.empty());
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("As it was recorded")));
}

TEST_F(WhatIfPageTest, AFactorOfWhatNobodyKnowsStaysInSight)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    EXPECT_EQ(batch().asked().text(), QStringLiteral("not known"));
    m_page.setScenario(
        { .changes = { *model::Change::parse("batch=x2") }, .settings = {}, .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(batch().slider().value(), 2 * WhatIfBatchCard::kOctave);
    EXPECT_EQ(batch().essence(), QStringLiteral("×2"));
    EXPECT_EQ(batch().asked().text(), QStringLiteral("not known"));
    batch().recorded().setValue(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(batch().asked().value(), 16);
    m_page.setScenario(
        { .changes = { *model::Change::parse("batch=x32") }, .settings = {}, .capacityBytes = {} });
    EXPECT_EQ(batch().essence(), QStringLiteral("×32, beyond the slider"));
    EXPECT_EQ(batch().asked().value(), 256);
}

TEST_F(WhatIfPageTest, BeginsWithTheRecordedCardOrNone)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    const auto recorded = m_document.device()->replay->report->capacityBytes;
    const int card = device().card().findData(static_cast<qint64>(recorded.value_or(0)));
    EXPECT_EQ(device().card().currentIndex(), card);
    EXPECT_TRUE(device().note().isEmpty());
    device().card().setCurrentIndex(-1);
    device().onSwitch().click();
    EXPECT_FALSE(scenario().capacityBytes);
    EXPECT_TRUE(device().note().startsWith(QStringLiteral("Choose a card"))) << qPrintable(device().note());
    device().card().setCurrentIndex(2);
    Q_EMIT device().card().activated(2);
    EXPECT_EQ(scenario().capacityBytes, model::cards()[2].capacityBytes);
}

TEST_F(WhatIfPageTest, SaysWhatIsBelowOrWhyNothingIs)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    m_page.setBelow(WhatIfPage::Blocks);
    EXPECT_TRUE(m_page.aboutText().startsWith(QStringLiteral("Nothing changes")));
    m_page.setScenario(
        { .changes = { *model::Change::parse("batch=x2") }, .settings = {}, .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    for (const auto below : { WhatIfPage::Cards, WhatIfPage::Blocks }) {
        m_page.setBelow(below);
        EXPECT_TRUE(m_page.aboutText().startsWith(QStringLiteral("Without an answer")));
    }
    m_page.setBelow(WhatIfPage::Peaks);
    EXPECT_TRUE(m_page.aboutText().isEmpty());
    m_page.setBelow(WhatIfPage::Alternatives);
    EXPECT_EQ(m_page.aboutText(),
        QStringLiteral("What is asked has no estimate: each of these alone, instead of it."));
    m_page.setScenario({});
    EXPECT_TRUE(m_page.aboutText().isEmpty());
    m_page.setScenario({ .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(m_page.aboutText(), QStringLiteral("Each of these on top of expandable_segments:True."));
}

TEST_F(WhatIfPageTest, PlacesOfTheSliderAreItems)
{
    EXPECT_EQ(WhatIfBatchCard::numberAt(0, 8), 4);
    EXPECT_EQ(WhatIfBatchCard::numberAt(4 * WhatIfBatchCard::kOctave, 8), 64);
    EXPECT_EQ(WhatIfBatchCard::numberAt(0, 1), 1); // never none
    for (int place = 0; place <= 4 * WhatIfBatchCard::kOctave; ++place)
        EXPECT_EQ(WhatIfBatchCard::placeOf(WhatIfBatchCard::numberAt(place, 1024), 1024), place);
    EXPECT_EQ(WhatIfBatchCard::placeOf(1'000'000, 8), 4 * WhatIfBatchCard::kOctave);
}

TEST_F(WhatIfPageTest, SettingsAreATextAndControlsOfIt)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    settings().expandable().setChecked(true);
    EXPECT_EQ(scenario().settings, "expandable_segments:True");
    settings().expandable().setChecked(false);
    settings().maxSplit().setValue(64);
    settings().garbage().setValue(80);
    settings().roundup().setCurrentIndex(settings().roundup().findData(8));
    Q_EMIT settings().roundup().activated(settings().roundup().currentIndex());
    EXPECT_EQ(scenario().settings,
        "max_split_size_mb:64,garbage_collection_threshold:0.8,roundup_power2_divisions:8");
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(m_page.whatIf().answer()->prediction);
    settings().line().selectAll();
    QTest::keyClicks(&settings().line(), QStringLiteral("max_split_size_mb:200"));
    EXPECT_EQ(settings().maxSplit().value(), 200);
    EXPECT_EQ(settings().garbage().value(), 0);
    EXPECT_EQ(scenario().settings, "max_split_size_mb:200");
    // What PyTorch would refuse is refused in its place.
    settings().line().selectAll();
    QTest::keyClicks(&settings().line(), QStringLiteral("no_such_setting:1"));
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("No answer:"))) << qPrintable(sentence());
    EXPECT_TRUE(sentence().contains(QStringLiteral("no_such_setting"))) << qPrintable(sentence());
    EXPECT_FALSE(m_page.chart().picture()->predicted);
    EXPECT_GT(m_page.chart().picture()->recorded.reservedBytesPeak, 0); // stays
}

TEST_F(WhatIfPageTest, ASmallerDeviceSaysWhereItEnds)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    QTest::keyClicks(&device().capacity(), QStringLiteral("6GiB"));
    EXPECT_EQ(scenario().capacityBytes, std::int64_t{ 6 } << 30);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(prediction().runsOutOfMemory);
    ASSERT_TRUE(prediction().outOfMemoryEvent);
    EXPECT_TRUE(
        sentence().contains(QStringLiteral("It runs out of memory on a device of 6.00 GiB, first at event")))
        << qPrintable(sentence());
    QSignalSpy opened(&m_page, &Page::openPage);
    for (QLabel* label : m_page.findChildren<QLabel*>())
        if (label->text() == m_page.sentenceText())
            Q_EMIT label->linkActivated(QStringLiteral("event:%1").arg(*prediction().outOfMemoryEvent));
    ASSERT_EQ(opened.count(), 1);
    EXPECT_EQ(opened[0][0].toString(), QStringLiteral("memory"));
    EXPECT_EQ(m_document.viewState().selection()->first, *prediction().outOfMemoryEvent);
    device().capacity().selectAll();
    QTest::keyClicks(&device().capacity(), QStringLiteral("many"));
    EXPECT_FALSE(scenario().capacityBytes);
    EXPECT_TRUE(device().note().contains(QStringLiteral("no size")));
}

/// Whoever asks has a card: what it comes to there is said before what other cards are for.
TEST_F(WhatIfPageTest, SaysFirstWhetherItFitsOnTheCardThatMatters)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    const std::int64_t room = prediction().roomBytes();
    const auto verdict = [&](std::int64_t capacity) {
        m_page.setScenario({ .changes = {}, .settings = {}, .capacityBytes = capacity });
        settle();
        return sentence();
    };
    const model::Card* smallest = nullptr; // with room for it
    const model::Card* const ranOn = recordedCardOf(m_page.whatIf().answer()->question);
    for (const model::CardFit& fit : model::cardFits(room, false, ranOn))
        if (fit.fit == model::Fit::Yes
            && (smallest == nullptr || fit.card->capacityBytes < smallest->capacityBytes))
            smallest = fit.card;
    ASSERT_TRUE(smallest);
    const model::Card& large = *model::findCard("A100-80GB");
    QString said = verdict(large.capacityBytes);
    const QString kernels
        = ranOn != nullptr ? QStringLiteral(" with the kernels of ") + text::utf8(ranOn->name) : QString();
    EXPECT_TRUE(
        said.contains(QStringLiteral("It fits on A100-80GB, with %1 left over. The smallest card%2 that")
                          .arg(text::bytes(large.capacityBytes - room), kernels)))
        << qPrintable(said);
    said = verdict(smallest->capacityBytes);
    EXPECT_TRUE(
        said.contains(QStringLiteral("It fits on %1, with %2 left over. No smaller card%3 would do.")
                          .arg(text::utf8(smallest->name), text::bytes(smallest->capacityBytes - room), kernels)))
        << qPrintable(said);
    said = verdict(room + 1'000'000); // which CUDA needs itself
    EXPECT_TRUE(
        said.contains(QStringLiteral("It is tight on a device of %1").arg(text::bytes(room + 1'000'000))))
        << qPrintable(said);
    said = verdict(room / 2);
    EXPECT_TRUE(said.contains(QStringLiteral("It runs out of memory on a device of"))) << qPrintable(said);
    EXPECT_FALSE(said.contains(QStringLiteral("It fits on"))) << qPrintable(said);
}

TEST_F(WhatIfPageTest, AnAlternativeIsTakenFromTheTable)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    batch().recorded().setValue(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    PlainTableView& table = m_page.table(WhatIfPage::Alternatives);
    const auto source = std::dynamic_pointer_cast<const AlternativesTable>(table.source());
    ASSERT_TRUE(source);
    bool batches = false, others = false;
    for (std::uint32_t row = 0; row < source->rowCount(); ++row) {
        const model::Scenario wanted = source->alternative(row).change;
        m_page.setScenario({}); // else the next one would be on top of the last
        ASSERT_NO_FATAL_FAILURE(settle());
        Q_EMIT table.sourceRowOpened(row);
        ASSERT_EQ(scenario().changes.size(), wanted.changes.size());
        EXPECT_EQ(scenario().settings, wanted.settings);
        EXPECT_EQ(batch().isOn(), !wanted.changes.empty());
        EXPECT_EQ(settings().isOn(), wanted.settings.has_value());
        if (!wanted.changes.empty()) {
            batches = true;
            EXPECT_EQ(scenario().changes.front().text, wanted.changes.front().text);
            EXPECT_EQ(batch().asked().value(),
                wanted.changes.front().as<model::SizeAsked>().numerator * 8
                    / wanted.changes.front().as<model::SizeAsked>().denominator);
        } else {
            others = true;
            EXPECT_EQ(settings().settings(), *wanted.settings);
        }
        ASSERT_NO_FATAL_FAILURE(settle());
        const auto& answer = *m_page.whatIf().answer();
        EXPECT_EQ(answer.prediction->neededBytes(), source->alternative(row).prediction->neededBytes());
    }
    EXPECT_TRUE(batches && others);
}

TEST_F(WhatIfPageTest, AnAlternativeIsTakenOnTopOfWhatIsAsked)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    batch().recorded().setValue(8);
    batch().asked().setValue(12);
    ASSERT_NO_FATAL_FAILURE(settle());
    const PlainTableView& table = m_page.table(WhatIfPage::Alternatives);
    const auto source = std::dynamic_pointer_cast<const AlternativesTable>(table.source());
    ASSERT_TRUE(source);
    EXPECT_EQ(source->columns()[0].title, QStringLiteral("One more change, on top of what is asked"));
    std::uint32_t row = 0;
    while (row < source->rowCount() && !source->alternative(row).change.settings)
        ++row;
    ASSERT_LT(row, source->rowCount());
    const WhatIfAlternative& wanted = source->alternative(row);
    std::string line;
    source->appendCsv(line, row);
    const std::int64_t saved = prediction().neededBytes() - wanted.prediction->neededBytes();
    EXPECT_NE(line.find("," + std::to_string(saved) + ","), std::string::npos) << line;
    m_page.takeAlternative(row);
    ASSERT_EQ(scenario().changes.size(), 1u);
    EXPECT_EQ(scenario().changes.front().text, "batch=12");
    EXPECT_EQ(scenario().settings, wanted.change.settings);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(prediction().neededBytes(), wanted.prediction->neededBytes());
    EXPECT_EQ(m_page.aboutText(),
        QStringLiteral("Each of these on top of batch=12, %1.").arg(text::utf8(*wanted.change.settings)));
}

TEST_F(WhatIfPageTest, ColumnsAreWideEnoughAfterOneFileFollowsAnother)
{
    for (int i = 0; i < 2; ++i) {
        ASSERT_NO_FATAL_FAILURE(openSample());
        m_page.resize(1'440, 900); // texts are cut in a small page
        QApplication::processEvents();
        const PlainTableView& table = m_page.table(WhatIfPage::Alternatives);
        ASSERT_TRUE(table.source());
        const auto* header = table.findChild<QHeaderView*>();
        ASSERT_TRUE(header);
        for (int column = 1; column <= AlternativesTable::Sureness; ++column)
            EXPECT_GE(header->sectionSize(column),
                table.fontMetrics().horizontalAdvance(
                    table.source()->columns()[static_cast<std::size_t>(column)].sample))
                << column;
    }
}

TEST_F(WhatIfPageTest, FurtherRecordingsTakePartWhereTheirCardIsOn)
{
    ASSERT_NO_FATAL_FAILURE(open(test::writeBatchRun(m_folder, 4)));
    batch().recorded().setValue(4);
    ASSERT_NO_FATAL_FAILURE(settle());
    batch().asked().setValue(6);
    recordings().add(test::writeBatchRun(m_folder, 8));
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(recordings().isOn());
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("No answer:"))) << qPrintable(sentence());
    auto* items = recordings().findChild<QSpinBox*>(QStringLiteral("items0"));
    ASSERT_TRUE(items);
    items->setValue(8);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(prediction().evidence, model::WhatIfEvidence::Recordings);
    recordings().onSwitch().click();
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_FALSE(m_page.whatIf().answer()->prediction); // one alone has no steps
}

TEST_F(WhatIfPageTest, LongerSequencesAreAskedOfTwoRecordings)
{
    auto& sequence = m_page.card<WhatIfSequenceCard>();
    ASSERT_NO_FATAL_FAILURE(open(test::writeSequenceRun(m_folder, 512)));
    EXPECT_FALSE(sequence.slider().isEnabled());
    EXPECT_EQ(sequence.note(), QStringLiteral("Say how long the recorded sequences are."));
    EXPECT_EQ(sequence.recorded().text(), QStringLiteral("not known"));
    sequence.recorded().setValue(512);
    EXPECT_TRUE(scenario().changes.empty());
    ASSERT_TRUE(sequence.slider().isEnabled());
    EXPECT_EQ(sequence.asked().value(), 512);
    EXPECT_TRUE(sequence.note().startsWith(QStringLiteral("It takes another recording")));
    sequence.slider().setValue(3 * WhatIfSequenceCard::kOctave);
    EXPECT_TRUE(sequence.isOn());
    EXPECT_EQ(sequence.asked().value(), 2048);
    EXPECT_EQ(sequence.essence(), QStringLiteral("×4"));
    EXPECT_FALSE(batch().isOn());
    ASSERT_EQ(scenario().changes.size(), 1u);
    EXPECT_EQ(scenario().changes.front().text, "sequence=2048");
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(sentence().endsWith(
        QStringLiteral("with sequences of another length in Other recordings at the left.")))
        << qPrintable(sentence());
    recordings().add(test::writeSequenceRun(m_folder, 1024));
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(recordings().note(), QStringLiteral("Say how long the sequences of each of them are."));
    EXPECT_FALSE(recordings().findChild<QSpinBox*>(QStringLiteral("items0")));
    auto* length = recordings().findChild<QSpinBox*>(QStringLiteral("length0"));
    ASSERT_TRUE(length);
    EXPECT_EQ(length->text(), QStringLiteral("length?"));
    length->setValue(1024);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(recordings().note().isEmpty()) << qPrintable(recordings().note());
    EXPECT_TRUE(sequence.note().isEmpty()) << qPrintable(sequence.note());
    ASSERT_TRUE(m_page.whatIf().answer()->prediction);
    EXPECT_EQ(prediction().predicted->requestedBytesPeak, test::sequenceRunBytes(2048));
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("With sequence=2048 it would reserve up to about")))
        << qPrintable(sentence());

    // Not of both at once, which the page says as the model does.
    m_page.setScenario(
        { .changes = { *model::Change::parse("sequence=x2"), *model::Change::parse("batch=x2") },
            .settings = {},
            .capacityBytes = {} });
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(sequence.asked().value(), 1024);
    EXPECT_TRUE(sentence().contains(QStringLiteral("not of both at once. Run the program so")))
        << qPrintable(sentence());

    // What it is asked for, rows say as it changes.
    m_page.setScenario({});
    EXPECT_FALSE(sequence.isOn());
    EXPECT_TRUE(recordings().note().startsWith(QStringLiteral("Those with sequences of another length")))
        << qPrintable(recordings().note());
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    EXPECT_TRUE(recordings().findChild<QSpinBox*>(QStringLiteral("items0")));
    EXPECT_FALSE(recordings().findChild<QSpinBox*>(QStringLiteral("length0")));
    sequence.onSwitch().click();
    EXPECT_EQ(scenario().changes.at(0).text, "sequence=x2");
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    length = recordings().findChild<QSpinBox*>(QStringLiteral("length0"));
    ASSERT_TRUE(length);
    EXPECT_EQ(length->value(), 1024);
}

TEST_F(WhatIfPageTest, CopiesTheCommandTheSettingAndTheTable)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    settings().maxSplit().setValue(64);
    ASSERT_NO_FATAL_FAILURE(settle());
    const auto press = [&](const char* text) {
        for (QPushButton* button : m_page.findChildren<QPushButton*>())
            if (button->text() == QLatin1String(text))
                button->click();
    };
    press("Copy setting");
    EXPECT_EQ(
        QApplication::clipboard()->text(), QStringLiteral("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"));
    press("Copy command");
    EXPECT_EQ(QApplication::clipboard()->text(), m_page.commandLine());
    EXPECT_TRUE(m_page.commandLine().endsWith(QStringLiteral(" --device 0 --set max_split_size_mb:64")));
    m_page.setBelow(WhatIfPage::Peaks);
    QBuffer csv;
    csv.open(QIODevice::ReadWrite);
    ASSERT_TRUE(m_page.writeCsv(csv));
    EXPECT_TRUE(csv.data().startsWith("peak,recorded_bytes,")) << csv.data().toStdString();
    const QString path = m_folder.filePath(QStringLiteral("peaks.svg"));
    ASSERT_TRUE(m_page.saveSvg(path));
    QFile svg(path);
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QByteArray drawn = svg.readAll();
    for (const QString& name : m_page.findChild<Legend*>()->names())
        EXPECT_TRUE(drawn.contains(name.toUtf8())) << qPrintable(name);
    press("As recorded");
    EXPECT_FALSE(scenario().settings);
}

TEST_F(WhatIfPageTest, AFileHasThePicturesWhereThePageHasThem)
{
    ASSERT_NO_FATAL_FAILURE(openSample());
    const QString path = m_folder.filePath(QStringLiteral("peaks.svg"));
    ASSERT_TRUE(m_page.saveSvg(path));
    QSvgRenderer file(path);
    const QWidget& pictures = *m_page.pictureWidget();
    ASSERT_EQ(file.viewBox(), pictures.rect());
    QImage image(pictures.size(), QImage::Format_RGB32);
    QPainter painter(&image);
    file.render(&painter, pictures.rect());
    ASSERT_TRUE(painter.end());
    const QPoint bar = m_page.chart().pos() + m_page.chart().bar(2, false).center().toPoint();
    EXPECT_EQ(image.pixelColor(bar), Palette::light()[Palette::Role::Other]);
    // As the window has it left of the first bar, where there is none if the chart is moved.
    const auto startOf = [&](const QImage& in) {
        int x = 0;
        while (x < in.width() && in.pixelColor(x, bar.y()) != Palette::light()[Palette::Role::Other])
            ++x;
        return x;
    };
    EXPECT_NEAR(startOf(image), startOf(m_page.pictureWidget()->grab().toImage()), 1);
}

TEST_F(WhatIfPageTest, WithoutStepsSettingsAloneAreAnswered)
{
    const auto run = test::batchRun(4, 0);
    const QString path = m_folder.filePath(QStringLiteral("run.strata"));
    ASSERT_TRUE(model::saveSession(*run, path.toStdString()));
    ASSERT_NO_FATAL_FAILURE(open(path));
    EXPECT_FALSE(batch().slider().isEnabled());
    EXPECT_TRUE(batch().note().startsWith(QStringLiteral("No steps of a training are known")))
        << qPrintable(batch().note());
    EXPECT_TRUE(m_page.card<WhatIfSequenceCard>().recorded().isEnabled()); // recordings tell without them
    settings().expandable().setChecked(true);
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_TRUE(m_page.whatIf().answer()->prediction);
}

TEST_F(WhatIfPageTest, WithoutEventsItSaysWhyThereIsNoCurve)
{
    const QString path = m_folder.filePath(QStringLiteral("no_events.json"));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(
        R"({"segments":[{"device":0,"address":1048576,"total_size":2097152,"allocated_size":1024,"active_size":1024,)"
        R"("requested_size":1000,"stream":0,"segment_type":"small","segment_pool_id":[0,0],"is_expandable":false,)"
        R"("frames":[],"blocks":[{"address":1048576,"size":1024,"requested_size":1000,"state":"active_allocated",)"
        R"("frames":[]},{"address":1049600,"size":2096128,"requested_size":0,"state":"inactive","frames":[]}]}],)"
        R"("device_traces":[[]]})");
    file.close();
    ASSERT_NO_FATAL_FAILURE(open(path));
    EXPECT_TRUE(m_page.run().isVisible());
    EXPECT_FALSE(m_page.run().curves());
    EXPECT_EQ(m_page.run().absence(), QStringLiteral("No events were recorded: there is no curve."));
    ASSERT_NO_FATAL_FAILURE(openSample());
    EXPECT_TRUE(m_page.run().curves());
    EXPECT_TRUE(m_page.run().absence().isEmpty());
}

TEST_F(WhatIfPageTest, SaysWhyThereIsNothingToAsk)
{
    EXPECT_EQ(m_page.notice().text().title, QStringLiteral("Nothing is open"));
    m_document.follow();
    const auto session = model::Session::fromRecording(test::batchRun(4));
    ASSERT_TRUE(session);
    m_document.show(*session);
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_document.device() != nullptr; }, 20'000));
    EXPECT_EQ(m_page.notice().text().title, QStringLiteral("What-if comes once the program has ended"));
    EXPECT_FALSE(m_page.chart().isVisible());
    m_document.endFollowing();
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_page.whatIf().answer() != nullptr; }, 20'000));
    EXPECT_TRUE(m_page.chart().isVisible());
}

} // namespace
