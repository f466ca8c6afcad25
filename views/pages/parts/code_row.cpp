// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/code_row.h"

#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace strata::views {

CodeRow::CodeRow(const QString& code, const QString& what, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    auto* line = new QHBoxLayout(this);
    line->setSpacing(kMargin);
    if (what.isEmpty()) {
        line->setContentsMargins(0, 0, 0, 0);
        auto* all = new QLineEdit(code);
        all->setReadOnly(true);
        all->setFont(codeFont(font()));
        all->setCursorPosition(0);
        all->setToolTip(code);
        all->setAccessibleName(tr("Command"));
        line->addWidget(all, 1);
    } else {
        setObjectName(QStringLiteral("code"));
        setAttribute(Qt::WA_StyledBackground);
        line->setContentsMargins(kMargin, kGrid / 2, kGrid / 2, kGrid / 2);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(2);
        QLabel* label = textLabel(code);
        label->setFont(codeFont(font()));
        texts->addWidget(label);
        texts->addWidget(textLabel(what, true));
        line->addLayout(texts, 1);
    }
    auto* copy = new QPushButton(tr("Copy"));
    copy->setAccessibleName(tr("Copy %1").arg(code));
    copy->setIcon(icon(QStringLiteral("copy"), palette));
    connect(copy, &QPushButton::clicked, copy, [code] { QApplication::clipboard()->setText(code); });
    line->addWidget(copy, 0, Qt::AlignVCenter);
}

} // namespace strata::views
