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
    , m_codeBox(new QWidget)
    , m_code(new QLabel)
    , m_copy(new QPushButton(tr("Copy")))
    , m_button(new QPushButton)
{
    QFont bold = font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_reason->setWordWrap(true);
    m_reason->setProperty("muted", true);
    m_reason->setMinimumWidth(kTextWidth);
    m_reason->setMaximumWidth(kTextWidth);

    m_codeBox->setObjectName(QStringLiteral("code"));
    m_codeBox->setAttribute(Qt::WA_StyledBackground);
    m_code->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_code->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_copy->setAccessibleName(tr("Copy the code"));
    connect(
        m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_shown.code); });
    connect(m_button, &QPushButton::clicked, this, &EmptyNotice::buttonPressed);
    m_button->setProperty("primary", true);

    auto* code = new QHBoxLayout(m_codeBox);
    code->setContentsMargins(12, 8, 8, 8);
    code->setSpacing(12);
    code->addWidget(m_code, 1);
    code->addWidget(m_copy, 0, Qt::AlignTop);

    auto* texts = new QVBoxLayout;
    texts->setSpacing(8);
    texts->addWidget(m_title);
    texts->addWidget(m_reason);
    texts->addSpacing(8);
    texts->addWidget(m_codeBox, 0, Qt::AlignLeft);
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

void EmptyNotice::setText(const Text& text)
{
    m_shown = text;
    m_title->setText(text.title);
    m_reason->setText(text.reason);
    m_reason->setVisible(!text.reason.isEmpty());
    m_code->setText(text.code);
    m_codeBox->setVisible(!text.code.isEmpty());
    m_button->setText(text.button);
    m_button->setVisible(!text.button.isEmpty());
    setAccessibleName(text.title);
    setAccessibleDescription(text.reason);
}

} // namespace strata::views
