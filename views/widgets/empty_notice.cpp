// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/empty_notice.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {
constexpr int kTextWidth = 560;
}

EmptyNotice::EmptyNotice(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel)
    , m_reason(new QLabel)
    , m_otherwise(new QLabel)
    , m_code(makeCode(tr("Copy the code")))
    , m_otherCode(makeCode(tr("Copy the other code")))
    , m_button(new QPushButton)
{
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    for (QLabel* words : { m_reason, m_otherwise }) {
        words->setWordWrap(true);
        words->setProperty("muted", true);
        words->setMinimumWidth(kTextWidth);
        words->setMaximumWidth(kTextWidth);
    }
    connect(m_button, &QPushButton::clicked, this, &EmptyNotice::buttonPressed);
    m_button->setProperty("primary", true);

    auto* texts = new QVBoxLayout;
    texts->setSpacing(8);
    texts->addWidget(m_title);
    texts->addWidget(m_reason);
    texts->addSpacing(8);
    texts->addWidget(m_code.box, 0, Qt::AlignLeft);
    texts->addWidget(m_otherwise);
    texts->addWidget(m_otherCode.box, 0, Qt::AlignLeft);
    texts->addWidget(m_button, 0, Qt::AlignLeft);

    auto* centred = new QHBoxLayout;
    centred->addStretch();
    centred->addLayout(texts);
    centred->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->addStretch(2);
    layout->addLayout(centred);
    layout->addStretch(3);
    setText({});
}

EmptyNotice::Code EmptyNotice::makeCode(const QString& accessibleName)
{
    const Code code{ new QWidget, new QLabel };
    code.box->setObjectName(QStringLiteral("code"));
    code.box->setAttribute(Qt::WA_StyledBackground);
    code.text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    code.text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* copy = new QPushButton(tr("Copy"));
    copy->setAccessibleName(accessibleName);
    connect(copy, &QPushButton::clicked, this,
        [text = code.text] { QGuiApplication::clipboard()->setText(text->text()); });
    auto* row = new QHBoxLayout(code.box);
    row->setContentsMargins(12, 8, 8, 8);
    row->setSpacing(12);
    row->addWidget(code.text, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    return code;
}

void EmptyNotice::showCode(const Code& code, const QString& text)
{
    code.text->setText(text);
    code.box->setVisible(!text.isEmpty());
}

void EmptyNotice::setText(const Text& text)
{
    m_shown = text;
    m_title->setText(text.title);
    m_reason->setText(text.reason);
    m_reason->setVisible(!text.reason.isEmpty());
    showCode(m_code, text.code);
    m_otherwise->setText(text.otherwise);
    m_otherwise->setVisible(!text.otherwise.isEmpty());
    showCode(m_otherCode, text.otherCode);
    m_button->setText(text.button);
    m_button->setVisible(!text.button.isEmpty());
    setAccessibleName(text.title);
    setAccessibleDescription(text.reason);
}

} // namespace strata::views
