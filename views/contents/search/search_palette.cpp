// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/search/search_palette.h"

#include "views/contents/search/finder.h"
#include "views/contents/search/search_list.h"
#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr double kPaletteWidth = 680.0;

/// A line that is cut, with an ellipsis, where there is no room for it.
class CutLabel : public QLabel {
public:
    using QLabel::QLabel;

    void setWhole(const QString& text)
    {
        m_whole = text;
        setToolTip(text);
        cut();
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QLabel::resizeEvent(event);
        cut();
    }

private:
    void cut() { setText(fontMetrics().elidedText(m_whole, Qt::ElideMiddle, width())); }

    QString m_whole;
};

} // namespace

SearchPalette::SearchPalette(Finder& finder, QWidget* window)
    : QFrame(window)
    , m_finder(finder)
    , m_error(new QLabel)
    , m_list(new SearchList)
    , m_none(textLabel({}, true))
    , m_foot(new QWidget)
    , m_command(new CutLabel)
    , m_copy(new QToolButton)
    , m_keys(new CutLabel)
{
    setObjectName(QStringLiteral("popup")); // as the style sheet knows it
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Search"));
    const int grid = scaled(kGrid, font());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, grid / 2, 1, 0);
    layout->setSpacing(0);
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->setContentsMargins(grid + grid / 2, 0, grid, 0);
    layout->addWidget(m_error);
    m_none->setContentsMargins(grid + grid / 2, grid / 2, grid, grid / 2);
    layout->addWidget(m_none);
    layout->addWidget(m_list, 1);

    auto* foot = new QVBoxLayout(m_foot);
    foot->setContentsMargins(grid + grid / 2, grid / 2, grid, grid / 2);
    foot->setSpacing(0);
    m_commandRow = new QWidget;
    auto* commandRow = new QHBoxLayout(m_commandRow);
    commandRow->setContentsMargins(0, 0, 0, 0);
    commandRow->setSpacing(grid / 2);
    m_command->setFont(codeFont(sized(font(), kAxisPx)));
    m_command->setProperty("muted", true);
    m_command->setTextFormat(Qt::PlainText);
    m_command->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    commandRow->addWidget(m_command, 1);
    m_copy->setIconSize(QSize(14, 14));
    m_copy->setFocusPolicy(Qt::NoFocus); // Ctrl+C in the field does the same
    m_copy->setToolTip(tr("Copy the command that prints this figure (Ctrl+C)"));
    m_copy->setAccessibleName(tr("Copy the command"));
    connect(m_copy, &QToolButton::clicked, this, &SearchPalette::copyCommand);
    commandRow->addWidget(m_copy);
    foot->addWidget(m_commandRow);
    m_keys->setFont(sized(font(), kAxisPx));
    m_keys->setProperty("muted", true);
    m_keys->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    foot->addWidget(m_keys);
    m_foot->setObjectName(QStringLiteral("searchFoot"));
    m_foot->setAttribute(Qt::WA_StyledBackground);
    layout->addWidget(m_foot);

    connect(&finder, &Finder::found, this, [this] {
        if (!isVisible())
            return;
        fill();
        if (const int how = std::exchange(m_choosing, 0))
            choose(how == 2);
    });
    connect(
        m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &SearchPalette::showCurrent);
    m_list->viewport()->installEventFilter(this);
    window->installEventFilter(this);
    hide();
}

void SearchPalette::setPalette(const Palette& palette)
{
    m_list->setPalette(palette);
    m_copy->setIcon(icon(QStringLiteral("copy"), palette));
    m_error->setStyleSheet(QStringLiteral("color: %1").arg(palette[Palette::Role::Bad].name()));
}

void SearchPalette::open(QWidget& field)
{
    m_field = &field;
    m_choosing = 0;
    if (!isVisible()) {
        m_list->rows().setSections({}); // those of the time before may be of another document
        m_none->hide();
        m_error->hide();
        m_filledFor.clear();
        place();
        show();
    }
    raise();
}

void SearchPalette::fill()
{
    const QModelIndex current = m_list->currentIndex();
    const int row = m_filledFor == m_finder.text() && current.isValid() ? current.row() : -1;
    m_filledFor = m_finder.text();
    m_list->rows().setSections(m_finder.sections());
    const int rows = m_list->rows().rowCount();
    if (row >= 0 && row < rows && m_list->rows().itemAt(row)) // the same search once more
        m_list->setCurrentIndex(m_list->rows().index(row));
    else
        m_list->showFirst();
    m_none->setText(tr("Nothing has “%1”.").arg(m_finder.text()));
    m_none->setVisible(rows == 0);
    bool anyCommand = false;
    for (int at = 0; at < rows && !anyCommand; ++at)
        if (const SearchItem* item = m_list->rows().itemAt(at))
            anyCommand = !item->command.isEmpty();
    m_commandRow->setVisible(anyCommand);
    m_error->setText(m_finder.error());
    m_error->setVisible(!m_error->text().isEmpty());
    showCurrent();
    place();
}

void SearchPalette::place()
{
    if (!m_field)
        return;
    const QWidget& window = *parentWidget();
    const int margin = scaled(kGrid, font());
    const int width = std::min(scaled(kPaletteWidth, font()), window.width() - 2 * margin);
    const QPoint below = m_field->mapTo(&window, QPoint(m_field->width(), m_field->height()));
    const int left = std::clamp(below.x() - width, margin, std::max(margin, window.width() - margin - width));
    const int top = below.y() + margin / 2;
    setFixedWidth(width);
    int others = m_foot->sizeHint().height() + margin;
    for (const QLabel* label : { m_error, m_none })
        if (!label->isHidden())
            others += label->heightForWidth(width - 2);
    const int most = std::max(m_list->rowHeight() * 3, (window.height() - top) * 4 / 5 - others);
    m_list->setVisible(m_list->rows().rowCount() > 0);
    m_list->setFixedHeight(std::min(most, m_list->contentHeight()));
    setGeometry(left, top, width, others + (m_list->isHidden() ? 0 : m_list->height()));
}

void SearchPalette::showCurrent()
{
    const SearchItem* item = m_list->rows().itemAt(m_list->currentIndex().row());
    static_cast<CutLabel*>(m_command)->setWhole(item ? item->command : QString());
    m_copy->setEnabled(item && !item->command.isEmpty());
    QStringList keys;
    if (item)
        keys.append(tr("Enter goes there"));
    if (item && item->narrow)
        keys.append(tr("Ctrl+Enter filters by it"));
    keys.append(tr("Esc closes"));
    if (const QString instant = m_finder.instant(); !instant.isEmpty())
        keys.append(tr("requested bytes live at %1").arg(instant));
    static_cast<CutLabel*>(m_keys)->setWhole(keys.join(QStringLiteral("  ·  ")));
    Q_EMIT currentChanged();
}

QString SearchPalette::currentText() const
{
    return m_list->currentIndex().data(Qt::AccessibleTextRole).toString();
}

QString SearchPalette::error() const
{
    return m_error->isHidden() ? QString() : m_error->text();
}

void SearchPalette::choose(bool narrow)
{
    if (m_finder.busy()) { // what is shown is of an earlier text
        m_choosing = narrow ? 2 : 1;
        return;
    }
    run(m_list->currentIndex().row(), narrow);
}

void SearchPalette::run(int row, bool narrow)
{
    if (row < 0 || row >= m_list->rows().rowCount())
        return;
    if (m_list->rows().kindOf(row) == SearchRows::Kind::More) {
        m_list->rows().unfold(row);
        place();
        m_list->setCurrentIndex(m_list->rows().index(row)); // the first of those that were folded
        m_list->scrollTo(m_list->currentIndex());
        return;
    }
    const SearchItem* item = m_list->rows().itemAt(row);
    if (!item || !item->enabled)
        return;
    const auto what = narrow ? item->narrow : item->go;
    if (!what)
        return;
    const bool stays = item->hit.has_value();
    m_finder.remember(m_finder.text());
    hide();
    Q_EMIT closed(stays, narrow);
    what();
}

void SearchPalette::copyCommand()
{
    const SearchItem* item = m_list->rows().itemAt(m_list->currentIndex().row());
    if (!item || item->command.isEmpty())
        return;
    QApplication::clipboard()->setText(item->command);
    Q_EMIT m_finder.flash(tr("copied: %1").arg(item->command));
}

void SearchPalette::hideEvent(QHideEvent* event)
{
    m_choosing = 0;
    QFrame::hideEvent(event);
}

bool SearchPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    if (watched == m_list->viewport() && event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const QModelIndex under = m_list->indexAt(mouse->position().toPoint());
        if (mouse->button() == Qt::LeftButton && under.isValid()) {
            run(under.row(), mouse->modifiers().testFlag(Qt::ControlModifier));
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace strata::views
