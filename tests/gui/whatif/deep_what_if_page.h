// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/save.h"
#include "tests/gui/whatif/shown_what_if_page.h"
#include "tests/unit/whatif/made_training.h"
#include "views/pages/whatif/what_if_confirm_panel.h"

#include <QPushButton>
#include <QTextDocumentFragment>

#include <map>
#include <string>

namespace strata::test {

inline QString plain(const QString& html)
{
    return QTextDocumentFragment::fromHtml(html).toPlainText().replace(QChar::Nbsp, QLatin1Char(' '));
}

/// The page with room for all of its parts, of a training that has a deep step.
class DeepWhatIfPage : public ShownWhatIfPage {
protected:
    DeepWhatIfPage()
        : ShownWhatIfPage({ 1100, 800 })
    {
    }
    [[nodiscard]] static auto makeDeep()
    {
        return MadeTraining({ .seed = 3, .layers = 6, .unit = std::int64_t{ 1 } << 19 }).recorded();
    }
    /// A training of six layers.
    void openDeep(const std::map<std::string, std::string>& facts = {})
    {
        const auto trained = makeDeep();
        for (const auto& [key, value] : facts)
            trained->recording().facts[key] = value;
        const QString path = m_folder.filePath(QStringLiteral("deep.strata"));
        ASSERT_TRUE(model::saveSession(trained->recording(), path.toStdString()));
        ASSERT_NO_FATAL_FAILURE(open(path));
    }
    void ask(const char* change)
    {
        m_page.setScenario(
            { .changes = { *model::Change::parse(change) }, .settings = {}, .capacityBytes = {} });
        ASSERT_NO_FATAL_FAILURE(settle());
    }
    [[nodiscard]] static QPushButton* button(const QWidget& in, const char* text)
    {
        for (QPushButton* one : in.findChildren<QPushButton*>())
            if (one->text() == QLatin1String(text))
                return one;
        return nullptr;
    }
    [[nodiscard]] views::WhatIfConfirmPanel& confirm() { return m_page.confirmPanel(); }
};

} // namespace strata::test
