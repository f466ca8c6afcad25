// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/rules_dialog.h"

#include "model/digest/out_of_memory.h"
#include "views/pages/parts/bar_list.h"
#include "views/style/labels.h"
#include "views/style/texts.h"

#include <QDateTime>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTextCursor>
#include <QVBoxLayout>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kPauseMs = 300; // after a key: nobody wants to be told of half a word
constexpr int kWidth = 640, kTextHeight = 160; // before scaling
constexpr int kRowsShown = 5; // the heading too

const char* const kExample = R"({"rules": [
  {"category": "communication", "frame": "my_gather", "min_bytes": "1MiB"},
  {"category": "workspace", "annotation": "^warm-up$", "module": "^encoder\\."}
]})";

/// What ruleShares() is asked for, and what it says.
struct Counted {
    std::vector<model::RuleShare> shares;
    std::int64_t requestedBytes;
};

Counted countAtPeak(const TrainingData& training)
{
    const model::DeviceTrace& trace = *training.trace;
    const model::Totals& totals = trace.totals();
    return { model::ruleShares(trace, model::Clock(trace), *training.categories, *training.rules,
                 model::activeBlocks(trace, totals.requestedPeakEvent)),
        totals.requestedBytesPeak };
}

} // namespace

RulesDialog::RulesDialog(Document& document, const Palette& palette, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_palette(palette)
    , m_text(new QPlainTextEdit)
    , m_state(textLabel({}))
    , m_list(new BarList)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("rules"));
    setWindowTitle(tr("Categories of your own"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * kGrid, 2 * kGrid, 2 * kGrid, 2 * kGrid);
    layout->setSpacing(kMargin);
    layout->addWidget(textLabel(tr("A block is of the category of the first rule whose conditions all hold, "
                                   "unless the program told what "
                                   "it is. \"frame\", \"annotation\" and \"module\" are regular expressions, "
                                   "\"min_bytes\" and \"max_bytes\" "
                                   "sizes.")));
    m_text->setFont(codeFont(font()));
    m_text->setAccessibleName(tr("Rules, as JSON"));
    m_text->setPlaceholderText(QLatin1String(kExample));
    m_text->setTabChangesFocus(true);
    m_text->setMinimumSize(scaled(kWidth, font()), scaled(kTextHeight, font()));
    m_text->setPlainText(QString::fromStdString(document.viewState().user().rules()));
    layout->addWidget(m_text, 1);
    m_state->setObjectName(QStringLiteral("state"));
    layout->addWidget(m_state);
    m_list->setAccessibleName(tr("What each rule takes at the peak"));
    m_list->setHeadings(tr("rule"), { tr("share"), tr("bytes at the peak"), tr("blocks") });
    auto* scroll = new QScrollArea; // of always the same height: nothing jumps while somebody writes
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFixedHeight(kRowsShown * scaled(kRowHeight, font()));
    auto* inside = new QWidget;
    auto* rows = new QVBoxLayout(inside);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(m_list);
    rows->addStretch();
    scroll->setWidget(inside);
    layout->addWidget(scroll);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    m_save = buttons->button(QDialogButtonBox::Save);
    QPushButton* example = buttons->addButton(tr("Insert an Example"), QDialogButtonBox::ActionRole);
    connect(example, &QPushButton::clicked, this, [this] {
        QTextCursor all(m_text->document()); // an undo takes it back
        all.select(QTextCursor::Document);
        all.insertText(QLatin1String(kExample));
        m_text->setFocus();
    });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);

    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &RulesDialog::check);
    connect(m_text, &QPlainTextEdit::textChanged, this, [this] {
        m_save->setEnabled(false); // until it is known to be right
        m_pause.start();
    });
    connect(&document, &Document::deviceReady, this, &RulesDialog::count);
    check();
    m_text->setFocus();
}

void RulesDialog::check()
{
    const std::string json = m_text->toPlainText().trimmed().toStdString();
    const auto tell = [this](const QString& text, Role role) {
        m_state->setText(text);
        m_state->setStyleSheet(QStringLiteral("color: %1").arg(m_palette[role].name()));
    };
    const auto tried = m_document.tryRules(json);
    m_save->setEnabled(tried.has_value());
    m_counted.reset();
    m_list->setRows({});
    if (!tried)
        return tell(tr("Not yet: %1").arg(text::said(tried.error())), Role::Bad);
    tell(json.empty() ? tr("No rules: categories are what the program told, or inferred.")
                      : tr("Trying them…"),
        Role::TextMuted);
    count();
}

void RulesDialog::count()
{
    const auto device = m_document.device();
    const auto training = device ? device->training : nullptr;
    if (!m_document.rules() || !m_save->isEnabled() || !training || training->rules != m_document.rules()
        || !training->categories || (m_counted && m_counted->categories == training->categories))
        return;
    m_counted = training;
    m_job.start([training](const JobContext&) { return countAtPeak(*training); },
        [this](const Counted& counted) { showShares(counted.shares, counted.requestedBytes); });
}

void RulesDialog::showShares(const std::vector<model::RuleShare>& shares, std::int64_t requestedBytes)
{
    if (!m_counted)
        return; // it was changed meanwhile
    std::vector<BarList::Row> rows;
    std::int64_t idle = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const model::RuleShare& share = shares[i];
        const model::Category category = m_counted->rules->rules()[i].category;
        BarList::Row& row = rows.emplace_back();
        row.label = tr("%1: %2").arg(i + 1).arg(text::said(model::categoryTitle(category)));
        row.toolTip = text::exactBytes(share.bytes);
        row.colour = m_palette[Role::Requested];
        row.fraction
            = requestedBytes > 0 ? static_cast<double>(share.bytes) / static_cast<double>(requestedBytes) : 0;
        row.figures = { text::share(share.bytes, requestedBytes), text::bytes(share.bytes),
            text::count(share.blocks) };
        if (share.blocks == 0) {
            row.ink = m_palette[Role::TextMuted];
            ++idle;
        }
    }
    m_list->setRows(rows);
    m_state->setText(idle == 0 ? tr("Every rule takes some of the peak.")
                               : text::counted(idle, tr("One rule takes nothing at the peak."),
                                   tr("%1 rules take nothing at the peak.")));
}

void RulesDialog::done(int result)
{
    m_pause.stop();
    if (result == QDialog::Accepted) {
        check(); // what was written last, too
        if (!m_save->isEnabled())
            return;
        model::UserData user = m_document.viewState().user();
        if (const std::string json = m_text->toPlainText().trimmed().toStdString(); json != user.rules()) {
            user.setRules(json, QDateTime::currentMSecsSinceEpoch() * 1'000'000);
            m_document.viewState().setUser(std::move(user));
        }
    } else {
        m_document.useKeptRules();
    }
    QDialog::done(result);
}

} // namespace strata::views
