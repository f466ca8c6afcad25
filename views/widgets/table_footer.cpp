// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_footer.h"

#include "views/base/background_job.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

#include <algorithm>

namespace strata::views {

namespace {
constexpr int kPatienceMs = 300;
constexpr int kAnnounceMs = 6000;
} // namespace

TableFooter::TableFooter(QWidget* parent)
    : QWidget(parent)
    , m_text(new QLabel)
    , m_state(new QLabel)
    , m_bar(new QProgressBar)
    , m_cancel(new QToolButton)
{
    m_text->setWordWrap(true); // what cannot be said in a line is read all the same
    m_state->setProperty("muted", true);
    m_bar->setRange(0, 1000);
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(120);
    m_bar->setAccessibleName(tr("Progress"));
    m_cancel->setText(tr("Cancel"));
    m_cancel->setToolTip(tr("Stop the work and keep what is shown"));

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_state);
    layout->addWidget(m_bar);
    layout->addWidget(m_cancel);
    setMinimumHeight(std::max(24, m_cancel->sizeHint().height())); // nothing moves when progress shows

    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    m_announced.setSingleShot(true);
    m_announced.setInterval(kAnnounceMs);
    connect(&m_patience, &QTimer::timeout, this, &TableFooter::showProgress);
    connect(&m_announced, &QTimer::timeout, this, &TableFooter::showProgress);
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        for (const auto& [job, name] : std::as_const(m_jobs)) {
            if (job->running()) {
                job->cancel();
                Q_EMIT gaveUp(job);
                return;
            }
        }
    });
    showProgress();
}

void TableFooter::setText(const QString& text)
{
    m_text->setText(text);
}

QString TableFooter::text() const
{
    return m_text->text();
}

void TableFooter::watch(BackgroundJob* job, const QString& name)
{
    m_jobs.append({ job, name });
    connect(job, &BackgroundJob::runningChanged, this, [this, job] {
        if (job->running())
            m_patience.start();
        else
            showProgress();
    });
    connect(job, &BackgroundJob::failed, this, [this, job] { Q_EMIT gaveUp(job); });
    connect(job, &BackgroundJob::progressChanged, this, [this] {
        if (!m_patience.isActive())
            showProgress();
    });
}

void TableFooter::announce(const QString& message)
{
    m_state->setText(message);
    m_announced.start();
    showProgress();
}

void TableFooter::showProgress()
{
    const auto running = std::find_if(
        m_jobs.cbegin(), m_jobs.cend(), [](const auto& entry) { return entry.first->running(); });
    const bool shown = running != m_jobs.cend() && !m_patience.isActive();
    m_bar->setVisible(shown);
    m_cancel->setVisible(shown);
    m_state->setVisible(shown || m_announced.isActive());
    if (!shown)
        return;
    m_announced.stop();
    m_state->setText(running->second);
    m_bar->setValue(static_cast<int>(running->first->fraction() * 1000));
}

} // namespace strata::views
