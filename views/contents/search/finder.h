// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QStringList>

#include "views/base/background_job.h"
#include "views/contents/document/document_view.h"
#include "views/contents/search/found_hits.h"
#include "views/shell/actions.h"

#include <functional>
#include <memory>
#include <optional>

namespace strata::views {

class RecentFiles;

/// What a text finds in the document that a window speaks of: what its blocks have (model/tables/search.h),
/// its pages and devices; files, and the window's actions; and what becomes of a hit. The hits of the last
/// search stay, to be walked through: where the instant, the device or the document is another, or the
/// session has grown, they are looked for again first. GUI thread only; the search itself runs elsewhere.
class Finder : public QObject {
    Q_OBJECT
public:
    /// `sections`: the actions that can be found, asked each time.
    explicit Finder(std::function<QList<Actions::Section>()> sections, QObject* parent = nullptr);

    void setView(DocumentView* view); ///< nullptr: none
    void setPageActions(const QList<QAction*>& actions) { m_pageKeys = actions; } ///< their shortcuts
    /// The files opened last and the samples can be found too; `files` outlives this.
    void setFiles(const RecentFiles& files) { m_files = &files; }

    /// Looks for the text; found() says when sections() are of it. At once where there is nothing to compute.
    void find(const QString& text);
    [[nodiscard]] bool busy() const { return m_job.running(); }
    [[nodiscard]] std::vector<SearchSection> sections();
    [[nodiscard]] QString text() const { return m_text; } ///< that is looked for
    [[nodiscard]] QString error() const; ///< why it is no filter; empty: it is one
    [[nodiscard]] QString instant() const; ///< that figures are of: "event 41,207"; empty: there are none
    void remember(const QString& text); ///< among the last ones

    [[nodiscard]] bool canStep() const { return m_view && !m_stepText.isEmpty(); }
    void step(int by); ///< goes to the next hit of the last search, or the one before

Q_SIGNALS:
    void found();
    void flash(const QString& text); ///< for the status bar
    void stepsChanged(); ///< canStep() says something else now
    void proposed(const QString& text); ///< an earlier search was chosen
    void fileWanted(const QString& path); ///< a file was

private:
    [[nodiscard]] bool holds(const QString& text) const; ///< m_found is of what is shown now
    void start(const QString& text);
    [[nodiscard]] std::vector<SearchSection> hitSections();
    /// What begins with what was typed comes before what merely has it.
    static void bestFirst(std::vector<SearchSection>& sections);
    [[nodiscard]] SearchSection pages();
    [[nodiscard]] SearchSection actions();
    [[nodiscard]] SearchSection devices();
    [[nodiscard]] SearchSection files();
    [[nodiscard]] SearchSection recent();
    [[nodiscard]] bool offer(SearchItem& item, SearchSection& section) const; ///< where its label matches

    void go(std::size_t number); ///< to a hit
    void narrow(std::size_t number);
    void showStep();
    [[nodiscard]] std::vector<std::size_t> stops(); ///< hits that are walked through, as the list has them

    std::function<QList<Actions::Section>()> m_sections;
    QList<QAction*> m_pageKeys;
    const RecentFiles* m_files = nullptr;
    QPointer<DocumentView> m_view;
    QString m_text;
    std::shared_ptr<const FoundHits> m_found;
    BackgroundJob m_job;
    QStringList m_recent; // the last one first

    QString m_stepText; // the search that is walked through
    model::FilterConditions m_at; // the hit that was gone to
    std::optional<std::size_t> m_stop; // which one of stops() that is
    int m_waiting = 0; // steps to be made once it is found again
};

} // namespace strata::views
