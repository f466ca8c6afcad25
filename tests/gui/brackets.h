// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QTranslator>

namespace strata::test {

/// While it lives, a language in which every sentence of the model is the English one in brackets.
class Brackets : public QTranslator {
public:
    Brackets() { QCoreApplication::installTranslator(this); }
    ~Brackets() override { QCoreApplication::removeTranslator(this); }
    Brackets(const Brackets&) = delete;
    Brackets& operator=(const Brackets&) = delete;

    [[nodiscard]] QString translate(const char* context, const char* source, const char*, int) const override
    {
        return QLatin1String(context) == QLatin1String("Model")
            ? QStringLiteral("[%1]").arg(QString::fromUtf8(source))
            : QString();
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
};

} // namespace strata::test
