// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/page.h"

class QBoxLayout;
class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace strata::views {

/// What someone whose run just died reads first: the verdict, the failed request if there is one and what
/// fills the peak; beside it whether the figures can be trusted, waste, settings and numbers.
class SummaryPage : public Page {
    Q_OBJECT
public:
    explicit SummaryPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("summary"); }
    [[nodiscard]] QString title() const override { return tr("Summary"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("summary"); }
    [[nodiscard]] QString commandLine() const override;
    [[nodiscard]] QString copyText() const override; ///< the verdict and what fills the peak
    [[nodiscard]] bool hasCsv() const override { return true; }
    [[nodiscard]] bool writeCsv(QIODevice& out) const override; ///< what fills the peak, every line
    [[nodiscard]] bool busy() const override;
    void setPalette(const Palette& palette) override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void rebuild();
    void showContent(QWidget* content);
    void fillStory(QVBoxLayout& column, const DeviceData& device);
    void fillFacts(QVBoxLayout& column, const DeviceData& device);
    void addOutOfMemory(QVBoxLayout& column, const DeviceData& device);
    void addPeak(QVBoxLayout& column, const DeviceData& device);
    QWidget* shareList(const DeviceData& device, const std::vector<model::GroupSum>& groups,
        std::int64_t whole, std::size_t most);
    void showInstant(model::EventIndex event);
    void focusOn(quint32 group);
    void filterBy(quint32 group);

    std::shared_ptr<const DeviceData> m_device;
    QScrollArea* m_scroll;
    QBoxLayout* m_columns = nullptr; // of the content, beside or below each other
    QWidget* m_facts = nullptr; // the second of them
};

} // namespace strata::views
