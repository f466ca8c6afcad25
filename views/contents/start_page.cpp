// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/start_page.h"

#include "views/contents/search/finder.h"
#include "views/contents/search/search_box.h"
#include "views/shell/recent_files.h"
#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

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

/// A file to open: its name, and what it is or where it lies in grey beside it.
QPushButton* fileLink(const QString& name, const QString& toolTip)
{
    QPushButton* button = linkButton(name);
    button->setToolTip(toolTip);
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

struct Part {
    QWidget* widget;
    QVBoxLayout* layout; ///< of the widget: the heading stands in it
};

Part makePart(const QString& heading, int spacing)
{
    auto* widget = new QWidget;
    auto* layout = new QVBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(spacing);
    layout->addWidget(headingLabel(heading, kVerdictPx));
    return { widget, layout };
}

} // namespace

StartPage::StartPage(const ContentContext& context, QWidget* parent)
    : WindowContent(parent)
    , m_recent(context.recent)
    , m_finder(new Finder([&actions = context.actions] { return actions.sections(); }, this))
    , m_top(new QWidget)
    , m_search(new SearchBox(*m_finder))
{
    makeTop(context);
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Start"));

    auto* column = new QWidget;
    column->setMaximumWidth(scaled(kColumnWidth, font()));
    auto* parts = new QVBoxLayout(column);
    parts->setContentsMargins(kMargin, 4 * kGrid, kMargin, 4 * kGrid);
    parts->setSpacing(4 * kGrid);
    parts->addWidget(makeHead(context.actions));
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

    connect(&m_recent, &RecentFiles::changed, this, &StartPage::fillRecent);
    fillRecent();
}

StartPage::~StartPage()
{
    delete m_top; // it refers to the finder
}

void StartPage::makeTop(const ContentContext& context)
{
    m_finder->setFiles(m_recent);
    connect(
        m_finder, &Finder::fileWanted, this, [this](const QString& path) { Q_EMIT fileWanted(path, false); });
    connect(m_finder, &Finder::flash, this, &StartPage::flash);
    m_search->setToolTip(tr("Files that were opened before, samples, actions"));
    auto* row = new QHBoxLayout(m_top);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_search, 1, Qt::AlignRight);
    serve(context.actions.find, [this] { m_search->takeKeyboard(); });
    serve(context.actions.findAll, [this] { m_search->openPalette(); });
}

QWidget* StartPage::makeHead(const Actions& actions)
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
    QLabel* name = headingLabel(tr("Strata"), kVerdictPx);
    title->addWidget(name, 1);
    layout->addLayout(title);
    layout->addWidget(textLabel(tr("Shows where GPU memory goes in PyTorch programs: what fills the device, "
                                   "which line of code put it there, "
                                   "and why a request failed.")));
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(0, kGrid, 0, 0);
    buttons->setSpacing(kMargin);
    auto* button = new QPushButton(tr("Open a Snapshot…"));
    button->setProperty("primary", true);
    connect(button, &QPushButton::clicked, actions.open, &QAction::trigger);
    buttons->addWidget(button);
    for (QAction* kind : actions.kinds) {
        auto* other = new QPushButton(kind->text().remove(QLatin1Char('&')));
        other->setToolTip(
            tr("%1 (%2)").arg(kind->statusTip(), kind->shortcut().toString(QKeySequence::NativeText)));
        connect(other, &QPushButton::clicked, kind, &QAction::trigger);
        buttons->addWidget(other);
    }
    buttons->addWidget(textLabel(tr("or drop a file anywhere on this window"), true), 1);
    layout->addLayout(buttons);
    layout->addWidget(
        textLabel(tr("Opens memory snapshots, traces and memory timelines of torch.profiler, and "
                     "recordings of its own."),
            true));
    return head;
}

QWidget* StartPage::makeRecent()
{
    const auto [part, layout] = makePart(tr("Recent files"), kGrid / 2);
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
        connect(link, &QPushButton::clicked, this, [this, path] { Q_EMIT fileWanted(path, false); });
        m_recentList->addLayout(fileRow(link, text::homeShort(file.absolutePath())));
    }
}

QWidget* StartPage::makeSamples()
{
    const auto [part, layout] = makePart(tr("Samples"), kGrid / 2);
    for (const Sample& sample : samples()) {
        QPushButton* link = fileLink(sample.title, sample.path);
        connect(link, &QPushButton::clicked, this, [this, sample] { Q_EMIT fileWanted(sample.path, false); });
        layout->addLayout(fileRow(link, sample.about));
    }
    part->setVisible(!samples().isEmpty());
    return part;
}

QWidget* StartPage::makeRecording()
{
    const auto [part, layout] = makePart(tr("Record a snapshot"), kGrid);
    layout->addWidget(
        textLabel(tr("Put these lines into your program. To catch an out-of-memory, call the last one where "
                     "you catch torch.OutOfMemoryError."),
            true));
    auto* box = new QWidget;
    box->setObjectName(QStringLiteral("code"));
    box->setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(kMargin, kGrid, kGrid, kGrid);
    auto* code = new QLabel(text::recordLines().trimmed());
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
        QGuiApplication::clipboard()->setText(text::recordLines());
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
    m_search->setPalette(palette);
}

} // namespace strata::views
