// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "model/whatif/ask/scenario.h"
#include "views/models/document/document.h"
#include "views/models/whatif/what_if.h"

#include <vector>

class QCheckBox;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace strata::views {

/// Something that can be another in a what-if: a card with a switch, and what it is to be below that. Who
/// moves a control of it switches it on, and what is on is open. GUI thread only.
class WhatIfCard : public QFrame {
    Q_OBJECT
public:
    WhatIfCard(WhatIf& whatIf, Document& document, const QString& title, const QString& about);

    [[nodiscard]] bool isOn() const;
    void setOn(bool on); ///< not told as the user's doing
    [[nodiscard]] QCheckBox& onSwitch() const { return *m_switch; }
    [[nodiscard]] QString note() const;
    [[nodiscard]] QString essence() const; ///< beside the title
    [[nodiscard]] bool isOpen() const; ///< its controls are shown, not its head alone
    void setOpen(bool open);

    /// Adds what it asks for, where it is on and has it.
    virtual void addTo(model::Scenario& scenario) const = 0;
    /// Shows what a scenario has of it: off where that is nothing. Not told as the user's doing.
    virtual void show(const model::Scenario& scenario) = 0;
    /// What is known of the device is another, or of its items.
    virtual void refresh() { }

Q_SIGNALS:
    void edited(); ///< by the user: it asks for something else

protected:
    void mouseReleaseEvent(QMouseEvent* event) override; ///< a click on the head opens and closes it
    [[nodiscard]] QVBoxLayout& inside() const { return *m_inside; }
    void setEssence(const QString& text); ///< beside the title
    void setNote(const QString& text); ///< below everything; empty: none
    void touched(); ///< the user moved a control
    [[nodiscard]] WhatIf& whatIf() const { return m_whatIf; }
    [[nodiscard]] Document& document() const { return m_document; }

private:
    WhatIf& m_whatIf;
    Document& m_document;
    QCheckBox* m_switch;
    QLabel* m_essence;
    QToolButton* m_fold;
    QWidget* m_body; // below the head
    QVBoxLayout* m_inside;
    QLabel* m_note;
};

/// One for each kind of change that the model knows, and those of the allocator, of the device and of further
/// recordings. The caller owns them.
[[nodiscard]] std::vector<WhatIfCard*> makeWhatIfCards(WhatIf& whatIf, Document& document);

} // namespace strata::views
