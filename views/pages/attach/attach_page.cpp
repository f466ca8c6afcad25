// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/attach/attach_page.h"

#include "views/models/live/live_place.h"
#include "views/pages/attach/process_list.h"
#include "views/pages/attach/ranks_view.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/empty_notice.h"

#include <QFile>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <string>

namespace strata::views {

AttachPage::AttachPage(QWidget* parent)
    : QWidget(parent)
    , m_stack(new QStackedWidget)
    , m_body(new QStackedWidget)
    , m_back(linkButton({}))
    , m_verdict(textLabel(tr("Looking for processes that can be watched.")))
    , m_list(new ProcessList)
    , m_empty(new EmptyNotice)
    , m_attach(new QPushButton(tr("Attach")))
    , m_watch(new QPushButton(tr("Watch All Ranks")))
    , m_address(new QLineEdit)
    , m_token(new QLineEdit)
    , m_attachThere(new QPushButton(tr("Attach There")))
    , m_ranks(new RanksView)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Attach"));
    m_stack->addWidget(makeProcesses());
    m_stack->addWidget(m_ranks);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);

    connect(&m_finder, &ProcessFinder::changed, this, &AttachPage::refresh);
    connect(m_list, &ProcessList::choiceChanged, this, &AttachPage::refreshChoice);
    connect(m_list, &ProcessList::opened, this, &AttachPage::open);
    connect(m_attach, &QPushButton::clicked, this, &AttachPage::open);
    connect(m_watch, &QPushButton::clicked, this, &AttachPage::watchRanks);
    connect(m_ranks, &RanksView::backRequested, this, &AttachPage::leaveRanks);
    connect(m_ranks, &RanksView::opened, this,
        [this](const model::LiveProcess& process) { Q_EMIT placeWanted(LivePlace::text(process.address)); });
    setBackTo({});
    refreshChoice();
}

QWidget* AttachPage::makeProcesses()
{
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(kMargin, kGrid, kMargin, kGrid);
    top->setSpacing(kMargin);
    m_verdict->setFont(sized(font(), kVerdictPx));
    m_back->setCursor(Qt::PointingHandCursor);
    connect(m_back, &QPushButton::clicked, this, &AttachPage::backRequested);
    top->addWidget(m_verdict, 1);
    top->addWidget(m_back, 0, Qt::AlignTop);
    column->addLayout(top);

    m_body->addWidget(m_list);
    auto* nothing = new QWidget;
    auto* centred = new QVBoxLayout(nothing);
    centred->addWidget(m_empty);
    m_body->addWidget(nothing);
    column->addWidget(m_body, 1);

    auto* foot = new QWidget;
    foot->setObjectName(QStringLiteral("searchFoot")); // as the style sheet knows it
    foot->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(kMargin, kGrid, kMargin, kGrid);
    row->setSpacing(kGrid);
    m_attach->setProperty("primary", true);
    m_attach->setToolTip(tr("Shows the process in all views, from its first event on (Enter)"));
    m_watch->setToolTip(
        tr("Shows all ranks of the job below each other, and what differs most between them"));
    row->addWidget(m_attach);
    row->addWidget(m_watch);
    row->addStretch(1);
    row->addWidget(makeElsewhere());
    column->addWidget(foot);
    return page;
}

QWidget* AttachPage::makeElsewhere()
{
    auto* part = new QWidget;
    auto* row = new QHBoxLayout(part);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kGrid);
    auto* label = new QLabel(tr("On another machine:"));
    label->setProperty("muted", true);
    label->setBuddy(m_address);
    m_address->setPlaceholderText(QStringLiteral("127.0.0.1:7070"));
    m_address->setAccessibleName(tr("Port of a tunnel to another machine"));
    m_address->setToolTip(tr("The end of a tunnel:\n"
                             "ssh HOST strata record --live --live-port 7070 -- python train.py\n"
                             "ssh -N -L 7070:127.0.0.1:7070 HOST"));
    m_token->setPlaceholderText(tr("token"));
    m_token->setAccessibleName(tr("Token"));
    m_token->setEchoMode(QLineEdit::PasswordEchoOnEdit);
    m_token->setToolTip(tr("The token that the recording says as it begins"));
    m_address->setFixedWidth(scaled(150.0, font()));
    m_token->setFixedWidth(scaled(110.0, font()));
    for (QLineEdit* edit : { m_address, m_token }) {
        connect(edit, &QLineEdit::textChanged, this, &AttachPage::refreshChoice);
        connect(edit, &QLineEdit::returnPressed, this, &AttachPage::openElsewhere);
    }
    connect(m_attachThere, &QPushButton::clicked, this, &AttachPage::openElsewhere);
    row->addWidget(label);
    row->addWidget(m_address);
    row->addWidget(m_token);
    row->addWidget(m_attachThere);
    return part;
}

bool AttachPage::showsRanks() const
{
    return m_stack->currentWidget() == m_ranks;
}

QString AttachPage::verdict() const
{
    return showsRanks() ? m_ranks->verdict() : m_verdict->text();
}

void AttachPage::setPalette(const Palette& palette)
{
    m_list->setColours(palette);
    m_ranks->setPalette(palette);
}

void AttachPage::setBackTo(const QString& title)
{
    m_back->setText(title.isEmpty() ? tr("Back to the start") : tr("Back to %1").arg(title));
}

void AttachPage::focusList()
{
    if (showsRanks())
        m_ranks->setFocus();
    else
        m_list->setFocus();
}

void AttachPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_finder.setLooking(true);
}

void AttachPage::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_finder.setLooking(false);
}

void AttachPage::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && !showsRanks())
        Q_EMIT backRequested();
    else
        QWidget::keyPressEvent(event);
}

void AttachPage::refresh()
{
    const auto& processes = m_finder.processes();
    m_list->setProcesses(processes, m_finder.nowMs());
    std::set<std::string> jobs;
    int live = 0;
    for (const ProcessFinder::Seen& seen : processes) {
        live += seen.process.state == model::ProcessState::Live;
        if (seen.process.job)
            jobs.insert(*seen.process.job);
    }
    const int count = static_cast<int>(processes.size());
    QString verdict = live == 0 ? tr("No process can be watched now.")
        : live == 1             ? tr("One process can be watched.")
                                : tr("%1 processes can be watched.").arg(text::count(live));
    if (!jobs.empty() && live > 1)
        verdict = jobs.size() == 1
            ? tr("%1 processes can be watched, with the ranks of one job.").arg(text::count(live))
            : tr("%1 processes can be watched, with the ranks of %2 jobs.")
                  .arg(text::count(live), text::count(static_cast<std::int64_t>(jobs.size())));
    if (count > live)
        verdict += QLatin1Char(' ')
            + text::counted(
                count - live, tr("One more uses a GPU or PyTorch."), tr("%1 more use a GPU or PyTorch."));
    m_verdict->setText(verdict);
    m_empty->setText({ .title = tr("Nothing is recorded live"),
        .reason = m_finder.refusals().isEmpty()
            ? tr("A training process that is started so appears here by itself, within a second:")
            : tr("Not looked into: %1").arg(m_finder.refusals()),
        .code = QStringLiteral("strata record --live -- python train.py"),
        .button = {},
        .otherwise = tr("To try it without a GPU:"),
        .otherCode = QStringLiteral("strata dryrun --live -- python train.py") });
    m_body->setCurrentIndex(count == 0 ? 1 : 0);
}

void AttachPage::refreshChoice()
{
    const auto chosen = m_list->chosen();
    const auto job = m_list->chosenJob();
    const auto allLive = [](const std::vector<model::LiveProcess>& processes) {
        return std::ranges::all_of(processes,
            [](const model::LiveProcess& process) { return process.state == model::ProcessState::Live; });
    };
    using State = model::ProcessState;
    const bool one = chosen.size() == 1;
    const State state = one ? chosen.front().state : State::Live;
    m_attach->setEnabled(one
            ? state != State::Polled && (state != State::File || !chosen.front().file.empty())
            : !chosen.empty() && allLive(chosen));
    m_attach->setText(chosen.size() > 1  ? tr("Watch All Ranks")
            : state == State::File       ? tr("Open What Is There")
            : state == State::Attachable ? tr("Record From Now On…")
                                         : tr("Attach"));
    m_watch->setVisible(job.size() > 1 && one && allLive(job));
    m_attachThere->setEnabled(!m_address->text().trimmed().isEmpty());
    Q_EMIT changed();
}

void AttachPage::open()
{
    const auto chosen = m_list->chosen();
    if (chosen.size() > 1)
        return watchRanks();
    if (chosen.empty())
        return;
    const model::LiveProcess& process = chosen.front();
    switch (process.state) {
    case model::ProcessState::Live:
        Q_EMIT placeWanted(LivePlace::text(process.address));
        return;
    case model::ProcessState::File:
        if (!process.file.empty())
            Q_EMIT placeWanted(QFile::decodeName(process.file.c_str()));
        return;
    case model::ProcessState::Attachable:
        if (process.process)
            Q_EMIT injectWanted(*process.process, text::utf8(process.name));
        return;
    case model::ProcessState::Polled:
        return;
    }
}

void AttachPage::openElsewhere()
{
    QString target = m_address->text().trimmed();
    if (target.isEmpty())
        return;
    if (const QString token = m_token->text().trimmed(); !token.isEmpty())
        target += QLatin1Char('#') + token;
    Q_EMIT placeWanted(QStringLiteral("live:") + target);
}

void AttachPage::watchRanks()
{
    m_ranks->watch(m_list->chosenJob());
    m_stack->setCurrentWidget(m_ranks);
    Q_EMIT changed();
}

void AttachPage::leaveRanks()
{
    m_stack->setCurrentIndex(0);
    m_ranks->watch({});
    m_list->setFocus();
    Q_EMIT changed();
}

QString AttachPage::copyText() const
{
    return showsRanks() ? m_ranks->copyText() : m_list->copyText();
}

QString AttachPage::commandLine() const
{
    const auto chosen = showsRanks() ? std::vector<model::LiveProcess>() : m_list->chosen();
    if (chosen.size() != 1)
        return QStringLiteral("strata list");
    const bool records = chosen.front().state == model::ProcessState::Attachable;
    return (records ? QStringLiteral("strata attach --inject %1") : QStringLiteral("strata attach %1"))
        .arg(text::shellQuoted(chosen.front().process
                ? QString::number(*chosen.front().process)
                : QString::fromStdString(chosen.front().address.text())));
}

} // namespace strata::views
