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
    m_title->setWordWrap(true);
    for (QLabel* words : { m_reason, m_otherwise }) {
        words->setWordWrap(true);
        words->setProperty("muted", true);
    }
    connect(m_button, &QPushButton::clicked, this, &EmptyNotice::buttonPressed);
    m_button->setProperty("primary", true);

    auto* inside = new QWidget;
    inside->setMaximumWidth(kTextWidth);
    auto* texts = new QVBoxLayout(inside);
    texts->setContentsMargins(0, 0, 0, 0);
    texts->setSpacing(8);
    texts->addWidget(m_title);
    texts->addWidget(m_reason);
    texts->addSpacing(8);
    texts->addWidget(m_code.box);
    texts->addWidget(m_otherwise);
    texts->addWidget(m_otherCode.box);
    texts->addWidget(m_button, 0, Qt::AlignLeft);

    auto* centred = new QHBoxLayout;
    constexpr int kAll = 1000; // of the room, up to its greatest width
    centred->addStretch(1);
    centred->addWidget(inside, kAll);
    centred->addStretch(1);
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
    // A long command goes over several lines, and is copied as one.
    const int longest = code.text->fontMetrics().size(0, text).width();
    const bool isLong = longest > kTextWidth / 2;
    code.text->setWordWrap(isLong);
    code.box->setSizePolicy(isLong ? QSizePolicy::Preferred : QSizePolicy::Maximum, QSizePolicy::Preferred);
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
