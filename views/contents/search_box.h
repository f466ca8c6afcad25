// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

#include "views/models/document.h"

class QStringListModel;

namespace strata::views {

/// The search box: Enter makes a filter of its text (search.h), picking one of the lines that it proposes
/// filters by that line. Escape leaves it.
class SearchBox : public QLineEdit {
    Q_OBJECT
public:
    explicit SearchBox(QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    void apply();
    void refreshProposals();

    Document* m_document = nullptr;
    QStringListModel* m_proposals;
};

} // namespace strata::views
