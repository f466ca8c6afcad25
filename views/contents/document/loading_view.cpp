// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/loading_view.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCoreApplication>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

struct Progress {
    Q_DECLARE_TR_FUNCTIONS(Progress)
};

constexpr int kWhole = 1000;

QString millions(std::int64_t count)
{
    return count < 1'000'000 ? text::count(count)
                             : Progress::tr("%1 million").arg(static_cast<double>(count) / 1e6, 0, 'f', 1);
}

} // namespace

QString progressText(const model::ProgressReport& progress)
{
    switch (progress.stage) {
    case model::Stage::Reading: {
        if (progress.done == 0)
            return Progress::tr("opening");
        const QString bytes = progress.total > 0
            ? Progress::tr("%1 of %2").arg(text::bytes(progress.done), text::bytes(progress.total))
            : text::bytes(progress.done);
        if (progress.events == 0)
            return Progress::tr("reading: %1").arg(bytes);
        // How many there will be, judged by the part of the file that is read.
        const bool known = progress.total > 0 && progress.done > 0 && progress.done < progress.total;
        if (!known)
            return Progress::tr("reading events: %1, %2").arg(millions(progress.events), bytes);
        const auto all = static_cast<std::int64_t>(static_cast<double>(progress.events)
            * static_cast<double>(progress.total) / static_cast<double>(progress.done));
        return Progress::tr("reading events: %1 of about %2, %3")
            .arg(millions(progress.events), millions(all), bytes);
    }
    case model::Stage::Building:
        return Progress::tr("building block lifetimes");
    case model::Stage::Checking:
        return Progress::tr("checking totals");
    case model::Stage::Indexing:
        return Progress::tr("indexing");
    }
    return {};
}

int progressPermille(const model::ProgressReport& progress)
{
    if (progress.total <= 0)
        return -1;
    return static_cast<int>(
        std::clamp(kWhole * static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0,
            double(kWhole)));
}

LoadingView::LoadingView(Shape shape, Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_name(new QLabel)
    , m_stage(new QLabel)
    , m_bar(new QProgressBar)
    , m_cancel(new QPushButton(tr("Cancel")))
{
    setAccessibleName(tr("Opening a file"));
    setAttribute(Qt::WA_StyledBackground);
    m_bar->setTextVisible(false);
    m_bar->setAccessibleName(tr("Progress"));
    m_stage->setProperty("muted", true);
    m_stage->setFont(numberFont(font()));
    m_name->setTextFormat(Qt::PlainText);
    m_name->setToolTip(document.path());
    m_name->setText(document.isFollowing()
            ? tr("Attaching to %1").arg(document.name())
            : tr("Opening %1, %2").arg(document.name(), text::bytes(document.fileBytes())));

    if (shape == Shape::Page) {
        setObjectName(QStringLiteral("page"));
        m_name->setFont(sized(font(), kVerdictPx));
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
        column->setSpacing(kMargin);
        column->addStretch(2);
        for (QWidget* part : std::initializer_list<QWidget*>{ m_name, m_bar, m_stage, m_cancel }) {
            if (part != m_cancel)
                part->setFixedWidth(scaled(480.0, font()));
            column->addWidget(part, 0, Qt::AlignHCenter);
        }
        column->addStretch(3);
    } else {
        setObjectName(QStringLiteral("banner"));
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(kMargin, kGrid, kGrid, kGrid);
        row->setSpacing(kMargin);
        m_bar->setFixedWidth(scaled(160.0, font()));
        row->addWidget(m_name);
        row->addWidget(m_bar);
        row->addWidget(m_stage, 1);
        row->addWidget(m_cancel);
    }
    connect(m_cancel, &QPushButton::clicked, this, &LoadingView::cancelled);
    connect(&document, &Document::progressChanged, this, &LoadingView::refresh);
    refresh();
}

void LoadingView::refresh()
{
    const model::ProgressReport progress = m_document.progress();
    m_stage->setText(m_document.isFollowing() ? tr("waiting for its first events") : progressText(progress));
    const int permille = progressPermille(progress);
    m_bar->setRange(0, permille < 0 ? 0 : kWhole);
    m_bar->setValue(std::max(permille, 0));
}

} // namespace strata::views
