// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QTimer>

#include "model/analysis/training/roles/rule_shares.h"
#include "views/base/background_job.h"
#include "views/models/document/document.h"
#include "views/style/palette.h"

#include <memory>
#include <vector>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace strata::views {

class BarList;

/// Categories of the user's own, as the text of their rules. While he writes, what is wrong with it stands
/// below; where nothing is, all of the window shows the rules at once, and what each takes at the peak is
/// said. To save keeps them with the recording, as one change that can be undone; to cancel goes back to
/// those that are kept. Window-modal.
class RulesDialog : public QDialog {
    Q_OBJECT
public:
    RulesDialog(Document& document, const Palette& palette, QWidget* parent);

    [[nodiscard]] QPlainTextEdit& text() const { return *m_text; }
    void done(int result) override;

private:
    void check(); ///< what is written
    void count(); ///< what the rules take, once the document knows
    void showShares(const std::vector<model::RuleShare>& shares, std::int64_t requestedBytes);

    Document& m_document;
    const Palette m_palette;
    QPlainTextEdit* m_text;
    QLabel* m_state;
    BarList* m_list;
    QPushButton* m_save;
    QTimer m_pause; // since the last key
    std::shared_ptr<const TrainingData> m_counted; // what the list is of
    BackgroundJob m_job;
};

} // namespace strata::views
