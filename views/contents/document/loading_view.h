// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/document.h"
#include "views/shell/window_content.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace strata::views {

/// "reading events: 3.1 million, 410 MiB of 974 MiB", "checking totals".
[[nodiscard]] QString progressText(const model::ProgressReport& progress);
/// 0 to 1000; -1 where the end is unknown.
[[nodiscard]] int progressPermille(const model::ProgressReport& progress);

/// How far a document is: name, size, stage, bar, cancel. Large in an empty window; as a strip above the page
/// while another document is still shown.
class LoadingView : public QWidget {
    Q_OBJECT
public:
    using Shape = WindowContent::Shape;
    LoadingView(Shape shape, Document& document, QWidget* parent = nullptr);

Q_SIGNALS:
    void cancelled();

private:
    void refresh();

    Document& m_document;
    QLabel* m_name;
    QLabel* m_stage;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
};

} // namespace strata::views
