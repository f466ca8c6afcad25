// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/catalogue.h"
#include "model/cards/generations.h"
#include "resources/resources.h"
#include "tests/gui/dryrun/dry_run_test.h"
#include "tests/gui/shell/window_driver.h"
#include "views/pages/dryrun/dry_run_form.h"
#include "views/pages/dryrun/dry_run_output.h"
#include "views/pages/dryrun/dry_run_result_view.h"
#include "views/pages/parts/bar_list.h"
#include "views/shell/theme.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTest>

#include <gmock/gmock.h>

using namespace strata;
using namespace strata::views;
using nlohmann::json;
using testing::HasSubstr;

namespace {

/// Widgets take their sizes from the font that the theme gives.
class Themed : public testing::Test {
protected:
    Themed() { initResources(); }
    Theme m_theme{ *qApp };
};

class DryRunFormTest : public Themed {
protected:
    QTemporaryDir m_folder;
    QSettings m_settings{ m_folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat };
    RecentDryRuns m_recent{ m_settings };
    DryRunForm m_form{ m_recent };
};

TEST_F(DryRunFormTest, HoldsARequest)
{
    EXPECT_EQ(m_form.request(), DryRunRequest());
    DryRunRequest request;
    request.command = QStringLiteral("python train.py");
    request.folder = QStringLiteral("/tmp");
    request.device = QStringLiteral("L4-24GB");
    request.capacity = QStringLiteral("20GiB");
    request.steps = 4;
    request.allocatorSettings = QStringLiteral("expandable_segments:True");
    request.rank = 3;
    request.worldSize = 4;
    request.devices = 2;
    request.skipInit = false;
    request.time = true;
    request.onEachCard = true;
    request.change = QStringLiteral("amp=bf16");
    request.output = QStringLiteral("kept.pickle");
    m_form.setRequest(request);
    EXPECT_EQ(m_form.request(), request);
    request.allocatorSettings = QString();
    request.rank.reset();
    m_form.setRequest(request);
    EXPECT_EQ(m_form.request(), request);
    m_form.setRequest({});
    EXPECT_EQ(m_form.request(), DryRunRequest());
}

TEST_F(DryRunFormTest, EveryFieldHasANameAndAPlaceInTheOrder)
{
    int fields = 0;
    for (QWidget* field : m_form.findChildren<QWidget*>()) {
        const bool input = qobject_cast<QLineEdit*>(field) || qobject_cast<QComboBox*>(field)
            || qobject_cast<QAbstractSpinBox*>(field) || qobject_cast<QPlainTextEdit*>(field)
            || qobject_cast<QCheckBox*>(field) || qobject_cast<QPushButton*>(field);
        if (!input || qobject_cast<QAbstractSpinBox*>(field->parentWidget()))
            continue;
        ++fields;
        const auto* button = qobject_cast<QAbstractButton*>(field);
        EXPECT_TRUE(!field->accessibleName().isEmpty() || (button && !button->text().isEmpty()))
            << field->metaObject()->className();
        EXPECT_TRUE(field->focusPolicy() & Qt::TabFocus) << qPrintable(field->accessibleName());
    }
    EXPECT_GE(fields, 20);
}

TEST_F(DryRunFormTest, SaysWhatRunsOnEachCardCost)
{
    const auto tip = [&](const char* change) {
        DryRunRequest request;
        request.change = QLatin1String(change);
        m_form.setRequest(request);
        for (const QCheckBox* box : m_form.findChildren<QCheckBox*>())
            if (box->text() == QLatin1String("Run on each card too"))
                return box->toolTip().toStdString();
        return std::string();
    };
    EXPECT_THAT(tip(""), HasSubstr(": 7 more runs. "));
    EXPECT_THAT(tip("amp=bf16"), HasSubstr(": 14 more runs. "));
}

TEST_F(DryRunFormTest, ShowsTheCatalogueWithCapacities)
{
    auto* device = m_form.findChild<QComboBox*>();
    ASSERT_EQ(device->count(), static_cast<int>(model::cards().size()));
    for (int i = 0; i < device->count(); ++i) {
        const model::Card& card = model::cards()[static_cast<std::size_t>(i)];
        EXPECT_EQ(device->itemText(i),
            QStringLiteral("%1, %2").arg(QString::fromStdString(card.name), text::bytes(card.capacityBytes)));
    }
}

TEST_F(DryRunFormTest, SaysWhatAShellIsNeededFor)
{
    auto* command = m_form.findChild<QPlainTextEdit*>();
    const auto says = [&](const char* text) {
        command->setPlainText(QString::fromUtf8(text));
        return test::shownTexts(m_form).join(QLatin1Char('\n')).toStdString();
    };
    m_form.show();
    EXPECT_THAT(
        says("python train.py | tee log"), testing::HasSubstr("| is for a shell: it runs through sh"));
    EXPECT_THAT(says("python 'train"), testing::HasSubstr("A quote is not closed yet."));
    EXPECT_THAT(says("python train.py"), testing::Not(testing::HasSubstr("shell")));
}

TEST_F(DryRunFormTest, FitsItsColumn)
{
    constexpr int kRoom = 400 - 4 * kMargin - 1 - 12; // of the page, with a scroll bar
    m_form.show();
    for (auto* button : m_form.findChildren<QPushButton*>())
        if (button->isCheckable())
            button->setChecked(true); // further options
    QCoreApplication::processEvents();
    EXPECT_LE(m_form.minimumSizeHint().width(), kRoom);
}

using DryRunResultViewTest = Themed;

/// Every figure of a recorded document is on the page, written as the command line writes it.
TEST_F(DryRunResultViewTest, ShowsTheFiguresOfTheDocument)
{
    for (const char* name : { "fits", "out_of_memory", "rank", "changed" }) {
        SCOPED_TRACE(name);
        const json wanted = json::parse(test::recordedText(name));
        DryRunOutcome outcome;
        outcome.result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText(name)));
        DryRunResultView view(outcome, Palette::light());
        view.resize(900, 900);
        view.show();
        const QStringList texts = test::shownTexts(view);
        for (const json& rank : wanted["ranks"])
            for (const json& device : rank["devices"]) {
                if (device["reserved_bytes_peak"] == 0)
                    continue;
                for (const char* key :
                    { "reserved_bytes_peak", "allocated_bytes_peak", "requested_bytes_peak" }) {
                    EXPECT_TRUE(texts.contains(text::bytes(device[key].get<qint64>()))) << key;
                    EXPECT_TRUE(texts.contains(text::exactBytes(device[key].get<qint64>()))) << key;
                }
            }
        const auto lists = view.findChildren<BarList*>();
        const auto row = [](const BarList& list, int r) {
            QStringList cells;
            for (int c = 0; c < list.columnCount(); ++c)
                cells << list.item(r, c)->text() << list.item(r, c)->toolTip();
            return cells.join(QLatin1Char('\n')).toStdString();
        };
        const json& judged = wanted.contains("changed") ? wanted["changed"] : wanted;
        ASSERT_EQ(lists.size(), judged["fits_on"].empty() ? 1 : 2);
        for (int r = 0; r < lists[0]->rowCount(); ++r) {
            const json& group = wanted["groups"][static_cast<std::size_t>(r)];
            EXPECT_THAT(row(*lists[0], r), testing::HasSubstr(group["key"].get<std::string>()));
            EXPECT_THAT(row(*lists[0], r),
                testing::HasSubstr(text::exactBytes(group["bytes"].get<qint64>()).toStdString()));
        }
        if (lists.size() < 2)
            continue;
        ASSERT_EQ(lists[1]->rowCount(), static_cast<int>(judged["fits_on"].size()));
        std::string all;
        for (int r = 0; r < lists[1]->rowCount(); ++r)
            all += row(*lists[1], r) + "\n\n";
        for (const json& card : judged["fits_on"])
            EXPECT_THAT(all,
                testing::HasSubstr(card["name"].get<std::string>() + "\n"
                    + text::exactBytes(card["margin_bytes"].get<qint64>()).toStdString() + " left of"));
    }
}

/// Each run with --on-each-card, by the words of the document; without it a button asks for it.
TEST_F(DryRunResultViewTest, ShowsTheRunsOnOtherCards)
{
    json told = json::parse(test::recordedText("each_card"));
    const auto shown = [&](int& asked) {
        DryRunOutcome outcome;
        outcome.result = DryRunResult::parse(QByteArray::fromStdString(told.dump()));
        DryRunResultView view(outcome, Palette::light());
        QObject::connect(&view, &DryRunResultView::eachCardRequested, [&] { ++asked; });
        view.resize(900, 900);
        view.show();
        for (QPushButton* button : view.findChildren<QPushButton*>())
            button->click();
        return (test::shownTexts(view).join(QLatin1Char('|')) + QLatin1Char('\n') + view.asText())
            .toStdString();
    };
    int asked = 0;
    const std::string with = shown(asked);
    EXPECT_EQ(asked, 0);
    EXPECT_THAT(with,
        HasSubstr("Not comparable, since no run on their GPU generation succeeded: H100-80GB, H200-141GB."));
    EXPECT_THAT(with, HasSubstr("Runs on other cards|"));
    std::map<std::string, std::string> words{ { "yes", "fits" }, { "tight", "tight" },
        { "no", "does not fit" }, { "", "failed" } };
    for (const json& run : told["each_card"]) {
        const std::string word = run["fits"],
                          needed = text::bytes(run["reserved_bytes_peak"].get<qint64>()).toStdString();
        EXPECT_THAT(with,
            HasSubstr(run["device"].get<std::string>() + "|" + (word == "no" || word.empty() ? "≥ " : "") + needed + "|"
                + words[word]));
        EXPECT_THAT(with,
            HasSubstr("run on " + run["device"].get<std::string>() + "\t" + run["reserved_bytes_peak"].dump()
                + "\t" + words[word]));
    }
    for (const json& card : told["fits_on"])
        if (card["fits"] != "not_comparable") {
            EXPECT_THAT(with,
                HasSubstr(card["name"].get<std::string>() + "\t" + card["margin_bytes"].dump() + "\t"
                    + card["fits"].get<std::string>()));
        }
    EXPECT_THAT(with, HasSubstr("failed, status 3"));

    json runs = told["each_card"];
    told.erase("each_card");
    const std::string without = shown(asked);
    EXPECT_EQ(asked, 1);
    EXPECT_THAT(without,
        HasSubstr("Not comparable, since other GPU generations run other kernels: H100-80GB, H200-141GB.|Run "
                  "on Each of Them"));
    EXPECT_THAT(without, testing::Not(HasSubstr("Runs on other cards")));

    // What counts of a changed program are runs with the changes.
    told["changed"] = told;
    told["each_card"] = runs;
    told["changed"]["changes"] = { "amp=bf16" };
    told["changed"]["applied"] = true;
    told["changed"]["note"] = nullptr;
    EXPECT_THAT(shown(asked), testing::Not(HasSubstr("Runs on other cards")));
    EXPECT_EQ(asked, 2);
    told["changed"]["each_card"] = { runs[1] };
    const std::string changed = shown(asked);
    EXPECT_EQ(asked, 2);
    EXPECT_THAT(changed, HasSubstr("Runs on other cards when changed|"));
    EXPECT_THAT(changed, testing::Not(HasSubstr("run on " + runs[0]["device"].get<std::string>())));
}

/// A changed program that failed does not fit, whatever it needed until then.
TEST_F(DryRunResultViewTest, SaysOfAChangedProgramThatItFailed)
{
    for (const int status : { 0, 1 }) {
        json told = json::parse(test::recordedText("changed"));
        told["changed"]["exit_status"] = status;
        if (status != 0)
            told["changed"]["fits_on"] = json::array();
        DryRunOutcome outcome;
        outcome.result = DryRunResult::parse(QByteArray::fromStdString(told.dump()));
        DryRunResultView view(outcome, Palette::light());
        view.resize(900, 900);
        view.show();
        const QStringList texts = test::shownTexts(view);
        EXPECT_EQ(texts.contains(QStringLiteral("failed")), status != 0);
        EXPECT_EQ(texts.contains(QStringLiteral("Fits on when changed, with room left")), status == 0);
    }
}

/// What --time tells is told, and nothing else says that there are no times.
TEST_F(DryRunResultViewTest, ShowsTheLeastTimeOfAStep)
{
    const json wanted = json::parse(test::recordedText("time"))["time"];
    DryRunOutcome outcome;
    outcome.result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText("time")));
    DryRunResultView view(outcome, Palette::light());
    view.resize(900, 900);
    view.show();
    const std::string texts = test::shownTexts(view).join(QLatin1Char('\n')).toStdString();
    EXPECT_THAT(texts, HasSubstr("Least time of a step"));
    EXPECT_THAT(texts,
        HasSubstr("takes at least " + text::duration(wanted["least_ns"].get<qint64>()).toStdString()
            + " on A100-80GB"));
    EXPECT_THAT(texts, HasSubstr(text::duration(wanted["cpu_step_ns"].get<qint64>()).toStdString()));
    for (const json& one : wanted["unknown"]["operators"])
        EXPECT_THAT(texts, HasSubstr(one["name"].get<std::string>() + " ("));
    EXPECT_THAT(texts, HasSubstr("Simulated: order, names, counts"));
    EXPECT_THAT(texts, testing::Not(HasSubstr("there are no times")));
    const auto lists = view.findChildren<BarList*>();
    const auto rowsOf = [&](const char* name) {
        std::vector<std::string> rows;
        for (const BarList* list : lists) {
            for (int r = 0; list->accessibleName() == QLatin1String(name) && r < list->rowCount(); ++r)
                rows.push_back((list->item(r, 0)->text() + QLatin1Char('|')
                    + list->item(r, list->columnCount() - 1)->text())
                                   .toStdString());
        }
        return rows;
    };
    std::vector<std::string> kinds;
    for (const json& kind : wanted["kinds"])
        kinds.push_back(kind["kind"].get<std::string>() + "|"
            + text::duration(kind["least_ns"].get<qint64>()).toStdString());
    EXPECT_EQ(rowsOf("Kinds of operators by the least time that they take"), kinds);
    std::vector<std::string> cards;
    for (const json& card : wanted["cards"])
        cards.push_back(card["name"].get<std::string>() + "|"
            + text::duration(card["least_ns"].get<qint64>()).toStdString());
    EXPECT_THAT(rowsOf("Cards that it fits on, by the least time of a step"),
        testing::UnorderedElementsAreArray(cards));
    EXPECT_THAT(
        view.asText().toStdString(), HasSubstr("A100-80GB\tat least ns " + wanted["least_ns"].dump()));
}

TEST_F(DryRunResultViewTest, SaysWhyTheLeastTimeIsNotKnown)
{
    json document = json::parse(test::recordedText("time"));
    document["time"] = { { "card", "A100-80GB" }, { "problem", "no hook" } };
    DryRunOutcome outcome;
    outcome.result = DryRunResult::parse(QByteArray::fromStdString(document.dump()));
    DryRunResultView view(outcome, Palette::light());
    EXPECT_THAT(
        test::shownTexts(view).join(QLatin1Char('\n')).toStdString(), HasSubstr("Not known: no hook."));
}

/// What a program came to before its end was seen, and cards that may have room for what was refused.
TEST_F(DryRunResultViewTest, SaysWhatIsNotSureAndWhatToTry)
{
    const auto textsOf = [](const json& document) {
        DryRunOutcome outcome;
        outcome.result = DryRunResult::parse(QByteArray::fromStdString(document.dump()));
        DryRunResultView view(outcome, Palette::light());
        view.resize(900, 900);
        view.show();
        return test::shownTexts(view).join(QLatin1Char('\n')).toStdString();
    };
    json document = json::parse(test::recordedText("out_of_memory"));
    const std::string before = textsOf(document);
    EXPECT_THAT(before, testing::Not(testing::HasSubstr("at least")));
    EXPECT_THAT(before, testing::Not(testing::HasSubstr("May fit on")));
    document["tracked"][0]["allocated_is_least"] = true;
    document["needed_at_least_bytes"] = 30LL << 30;
    document["try_on"] = { { { "name", "V100-32GB" }, { "margin_bytes", 1 } } };
    EXPECT_THAT(textsOf(document),
        testing::AllOf(testing::HasSubstr("at least: the program ended with its last allocation"),
            testing::HasSubstr("it needs at least 30.0 GiB. Cards that have more than that: V100-32GB.")));
    document["try_on"] = json::array();
    EXPECT_THAT(textsOf(document), testing::HasSubstr("No card of the catalogue has that much."));
}

/// Beside the form in a window of 1280x800 nothing is cut, and lines read as in other lists.
TEST_F(DryRunResultViewTest, FitsBesideTheFormAndNamesLinesShortly)
{
    for (const char* name : { "fits", "out_of_memory", "rank", "changed", "fit", "time", "each_card" }) {
        SCOPED_TRACE(name);
        DryRunOutcome outcome;
        outcome.result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText(name)));
        DryRunResultView view(outcome, Palette::light());
        view.resize(832, 600);
        view.show();
        QCoreApplication::processEvents();
        EXPECT_LE(view.minimumSizeHint().width(), 832);
        for (const auto* part : view.findChildren<QWidget*>()) {
            if (!part->isVisible() || part->parentWidget()->inherits("QAbstractScrollArea"))
                continue;
            EXPECT_LE(part->mapTo(&view, QPoint()).x() + part->width(), view.width())
                << part->metaObject()->className();
            const auto* label = qobject_cast<const QLabel*>(part);
            if (label && !label->wordWrap()) {
                EXPECT_GE(label->width(), label->sizeHint().width()) << qPrintable(label->text());
            }
        }
        for (const auto* list : view.findChildren<BarList*>())
            for (int row = 0; row < list->rowCount(); ++row) {
                const QString label = list->item(row, 0)->text();
                EXPECT_FALSE(label.contains(QLatin1Char('/'))) << qPrintable(label);
                EXPECT_EQ(list->item(row, 1)->data(Qt::UserRole).value<QBrush>().style() == Qt::SolidPattern,
                    label != QStringLiteral("no stack recorded"));
                for (int column = 2; column < list->columnCount(); ++column)
                    EXPECT_LE(
                        list->visualItemRect(list->item(row, column)).right(), list->viewport()->width());
            }
    }
}

using DryRunOutputTest = Themed;

TEST_F(DryRunOutputTest, IsBoundedAndFollowsProgressBars)
{
    DryRunOutput output;
    OutputLines lines;
    lines.feed("one\n 1 %");
    output.append(lines);
    EXPECT_EQ(output.toPlainText(), QStringLiteral("one\n 1 %"));
    lines.feed("\r 2 %");
    output.append(lines);
    EXPECT_EQ(output.toPlainText(), QStringLiteral("one\n 2 %"));
    lines.feed("\ndone\n");
    output.append(lines);
    EXPECT_EQ(output.toPlainText(), QStringLiteral("one\n 2 %\ndone"));
    for (int i = 0; i < 3; ++i) {
        for (int line = 0; line < DryRunOutput::kMostLines; ++line)
            lines.feed("line\n");
        output.append(lines);
    }
    EXPECT_EQ(output.blockCount(), DryRunOutput::kMostLines);
}

} // namespace
