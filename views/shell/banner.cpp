// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/banner.h"

#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

Notice Notice::of(Kind kind, const model::Error& error)
{
    const QString where = error.where.empty() ? QString() : text::utf8(error.where) + QStringLiteral(": ");
    return { .kind = kind, .what = where + text::said(error.what), .hint = text::said(error.hint.said) };
}

Banner::Banner(const Notice& notice, QWidget* parent)
    : QWidget(parent)
    , m_kind(notice.kind)
    , m_layout(new QHBoxLayout(this))
    , m_icon(new QLabel)
    , m_what(new QLabel(notice.what))
    , m_hint(new QLabel(notice.hint))
    , m_close(new QToolButton)
{
    setObjectName(QStringLiteral("banner"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(notice.what);
    setToolTip(notice.toolTip);
    m_layout->setContentsMargins(kMargin, kGrid, kGrid, kGrid);
    m_layout->setSpacing(kMargin);
    m_layout->addWidget(m_icon, 0, Qt::AlignTop);

    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    for (QLabel* label : { m_what, m_hint }) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        texts->addWidget(label);
    }
    QFont bold = font();
    bold.setBold(true);
    m_what->setFont(bold);
    m_hint->setVisible(!notice.hint.isEmpty());
    m_layout->addLayout(texts, 1);

    if (!notice.button.isEmpty()) {
        auto* button = new QPushButton(notice.button);
        connect(button, &QPushButton::clicked, this, [this, action = notice.action] {
            Q_EMIT closed();
            action();
        });
        m_layout->addWidget(button, 0, Qt::AlignTop);
    }
    m_close->setAccessibleName(tr("Close this message"));
    m_close->setToolTip(tr("Close this message"));
    connect(m_close, &QToolButton::clicked, this, &Banner::closed);
    m_layout->addWidget(m_close, 0, Qt::AlignTop);
}

void Banner::setPalette(const Palette& palette)
{
    constexpr std::pair<const char*, Palette::Role> kLooks[] = { { "info", Palette::Role::Accent },
        { "warning", Palette::Role::Warning }, { "error", Palette::Role::Bad } };
    const auto& [name, role] = kLooks[static_cast<std::size_t>(m_kind)];
    m_icon->setPixmap(iconPixmap(QLatin1String(name), palette[role], 18, devicePixelRatioF()));
    m_close->setIcon(icon(QStringLiteral("close"), palette));
}

QString Banner::text() const
{
    return m_hint->text().isEmpty() ? m_what->text() : m_what->text() + QLatin1Char('\n') + m_hint->text();
}

} // namespace strata::views
