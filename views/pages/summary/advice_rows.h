// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/whatif/plan/advice.h"

#include <vector>

namespace strata::views {

/// Changes that lower what a run reserves, below a heading: of each what it is, a link, what it saves, what
/// would be reserved then, and how sure that is. Hidden where there are none. GUI thread only.
class AdviceRows : public QWidget {
    Q_OBJECT
public:
    explicit AdviceRows(const QString& heading, QWidget* parent = nullptr);

    /// `accent`: the colour of links.
    void setAdvice(const std::vector<model::Advice>& advice, const QString& accent);
    [[nodiscard]] QStringList lines() const; ///< as plain text

Q_SIGNALS:
    void chosen(const strata::model::Scenario& scenario);

private:
    QString m_heading;
    std::vector<model::Scenario> m_scenarios;
    QWidget* m_rows = nullptr;
};

} // namespace strata::views
