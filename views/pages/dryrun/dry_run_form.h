// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/programs/dry_run_request.h"
#include "views/style/palette.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QMenu;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace strata::views {

/// The form of the Dry run page: command, folder, device, and further options below. Holds what is asked;
/// Return in any field runs it.
class DryRunForm : public QWidget {
    Q_OBJECT
public:
    explicit DryRunForm(RecentDryRuns& recent, QWidget* parent = nullptr);

    [[nodiscard]] DryRunRequest request() const;
    void setRequest(const DryRunRequest& request);
    void setRunning(bool running); ///< the button for running is one for cancelling meanwhile
    void setPrimary(bool primary); ///< whether running is what to do next
    void setPalette(const Palette& palette);
    void focusCommand();

Q_SIGNALS:
    void runRequested();
    void cancelRequested();
    void copyRequested(); ///< the command line
    void changed(); ///< request() says something else now

private:
    void makeCommand(QGridLayout& grid);
    void makeDevice(QGridLayout& grid);
    void makeFurther();
    QWidget* makeButtons();
    void chooseFolder();
    void chooseOutput();
    void edited();
    void fillRecent();
    void showNote();
    void showFurther(bool shown);
    bool eventFilter(QObject* watched, QEvent* event) override;

    RecentDryRuns& m_recent;
    QPlainTextEdit* m_command;
    QLabel* m_note; // what will come of the command as it is typed; hidden where there is nothing to say
    QPushButton* m_recentButton;
    QMenu* m_recentMenu;
    QLineEdit* m_folder;
    QComboBox* m_device;
    QLineEdit* m_capacity;
    QSpinBox* m_steps;
    QPushButton* m_further;
    QWidget* m_furtherPart;
    QCheckBox* m_replaceSettings;
    QLineEdit* m_settings;
    QCheckBox* m_asRank;
    QSpinBox* m_rank;
    QSpinBox* m_worldSize;
    QSpinBox* m_devices;
    QCheckBox* m_initialise;
    QCheckBox* m_time;
    QCheckBox* m_onEachCard;
    QLineEdit* m_change;
    QLineEdit* m_fit;
    QLineEdit* m_output;
    QPushButton* m_run;
    QPushButton* m_copy;
    bool m_running = false;
    bool m_filling = false; // setRequest() is at work
    Palette m_palette = Palette::light();
};

} // namespace strata::views
