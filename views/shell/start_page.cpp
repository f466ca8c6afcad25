// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/start_page.h"

#include "views/pages/icons.h"
#include "views/pages/type.h"
#include "views/shell/recent_files.h"

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr int kColumnWidth = 720;
constexpr int kShownRecent = 6;

QLabel* label(const QString& text, int px, bool muted = false)
{
    auto* made = new QLabel(text);
    made->setFont(sized(made->font(), px));
    made->setWordWrap(true);
    made->setProperty("muted", muted);
    return made;
}

QLabel* heading(const QString& text)
{
    QLabel* made = label(text, kVerdictPx);
    QFont font = made->font();
    font.setBold(true);
    made->setFont(font);
    return made;
}

/// A file to open: its name, and what it is or where it lies in grey beside it.
QPushButton* fileLink(const QString& name, const QString& toolTip)
{
    auto* button = new QPushButton(name);
    button->setProperty("link", true);
    button->setCursor(Qt::PointingHandCursor);
    button->setToolTip(toolTip);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    return button;
}

QHBoxLayout* fileRow(QPushButton* link, const QString& about)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(kGrid);
    row->addWidget(link);
    auto* grey = new QLabel(about);
    grey->setProperty("muted", true);
    grey->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(grey, 1);
    return row;
}

QString homeShort(const QString& path)
{
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
}

} // namespace

StartPage::StartPage(RecentFiles& recent, QAction* open, QAction* dryRun, QWidget* parent)
    : QWidget(parent)
    , m_recent(recent)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Start"));

    auto* column = new QWidget;
    column->setMaximumWidth(qRound(kColumnWidth * font().pixelSize() / double(kBodyPx)));
    auto* parts = new QVBoxLayout(column);
    parts->setContentsMargins(kMargin, 4 * kGrid, kMargin, 4 * kGrid);
    parts->setSpacing(4 * kGrid);
    parts->addWidget(makeHead(open, dryRun));
    m_recentPart = makeRecent();
    parts->addWidget(m_recentPart);
    parts->addWidget(makeSamples());
    parts->addWidget(makeRecording());
    parts->addStretch();

    auto* content = new QWidget;
    auto* centred = new QHBoxLayout(content);
    centred->setContentsMargins(0, 0, 0, 0);
    centred->addStretch(1);
    centred->addWidget(column, 100);
    centred->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->viewport()->setAutoFillBackground(false);
    content->setAutoFillBackground(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);

    connect(&recent, &RecentFiles::changed, this, &StartPage::fillRecent);
    fillRecent();
}

QWidget* StartPage::makeHead(QAction* open, QAction* dryRun)
{
    auto* head = new QWidget;
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    auto* title = new QHBoxLayout;
    title->setSpacing(kMargin);
    auto* mark = new QLabel;
    mark->setPixmap(
        QIcon(QStringLiteral(":/strata/icons/strata.svg")).pixmap(QSize(40, 40), devicePixelRatioF()));
    title->addWidget(mark);
    QLabel* name = heading(tr("Strata"));
    title->addWidget(name, 1);
    layout->addLayout(title);
    layout->addWidget(label(tr("Shows where GPU memory goes in PyTorch programs: what fills the device, "
                               "which line of code put it there, "
                               "and why a request failed."),
        kBodyPx));
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, kGrid, 0, 0);
    buttons->setSpacing(kMargin);
    auto* button = new QPushButton(tr("Open a Snapshot…"));
    button->setProperty("primary", true);
    connect(button, &QPushButton::clicked, open, &QAction::trigger);
    buttons->addWidget(button);
    auto* trial = new QPushButton(tr("Dry Run a Program…"));
    trial->setToolTip(tr("What a program would need, and on which card it fits, without a GPU (Ctrl+R)"));
    connect(trial, &QPushButton::clicked, dryRun, &QAction::trigger);
    buttons->addWidget(trial);
    buttons->addWidget(label(tr("or drop a file anywhere on this window"), kBodyPx, true), 1);
    layout->addLayout(buttons);
    return head;
}

QWidget* StartPage::makeRecent()
{
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid / 2);
    layout->addWidget(heading(tr("Recent files")));
    m_recentList = new QVBoxLayout;
    m_recentList->setSpacing(0);
    layout->addLayout(m_recentList);
    return part;
}

void StartPage::fillRecent()
{
    while (QLayoutItem* item = m_recentList->takeAt(0)) {
        while (QLayoutItem* inner = item->layout() ? item->layout()->takeAt(0) : nullptr) {
            if (inner->widget())
                inner->widget()->deleteLater();
            delete inner;
        }
        delete item;
    }
    const QStringList paths = m_recent.paths();
    m_recentPart->setVisible(!paths.isEmpty());
    for (const QString& path : paths.mid(0, kShownRecent)) {
        const QFileInfo file(path);
        QPushButton* link = fileLink(file.fileName(), path);
        connect(link, &QPushButton::clicked, this, [this, path] { Q_EMIT fileChosen(path); });
        m_recentList->addLayout(fileRow(link, homeShort(file.absolutePath())));
    }
}

QWidget* StartPage::makeSamples()
{
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid / 2);
    layout->addWidget(heading(tr("Samples")));
    for (const Sample& sample : samples()) {
        QPushButton* link = fileLink(sample.title, sample.path);
        connect(link, &QPushButton::clicked, this, [this, sample] { Q_EMIT fileChosen(sample.path); });
        layout->addLayout(fileRow(link, sample.about));
    }
    part->setVisible(!samples().isEmpty());
    return part;
}

QString StartPage::recordingCode()
{
    return QStringLiteral(
        "torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks=\"python\")\n"
        "train()  # your program, or a few steps of it\n"
        "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n");
}

QWidget* StartPage::makeRecording()
{
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    layout->addWidget(heading(tr("Record a snapshot")));
    layout->addWidget(
        label(tr("Put these lines into your program. To catch an out-of-memory, call the last one where "
                 "you catch torch.OutOfMemoryError."),
            kBodyPx, true));
    auto* box = new QWidget;
    box->setObjectName(QStringLiteral("code"));
    box->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(kMargin, kGrid, kGrid, kGrid);
    auto* code = new QLabel(recordingCode().trimmed());
    code->setFont(codeFont(sized(font(), kAxisPx + 1)));
    code->setTextFormat(Qt::PlainText);
    code->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    code->setAccessibleName(tr("Lines of Python that record a snapshot"));
    code->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(code, 1);
    m_copy = new QToolButton;
    m_copy->setText(tr("Copy"));
    m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_copy->setToolTip(tr("Copy these lines"));
    m_copy->setFocusPolicy(Qt::TabFocus);
    connect(m_copy, &QToolButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(recordingCode());
        m_copy->setText(tr("Copied"));
        QTimer::singleShot(1500, m_copy, [this] { m_copy->setText(tr("Copy")); });
    });
    row->addWidget(m_copy, 0, Qt::AlignTop);
    layout->addWidget(box);
    return part;
}

void StartPage::setPalette(const Palette& palette)
{
    m_copy->setIcon(icon(QStringLiteral("copy"), palette));
}

} // namespace strata::views
