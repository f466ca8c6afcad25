// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/session/session_stream.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/support/grow.h"
#include "tests/support/little_chunks.h"

namespace strata::test {

/// A window that shows a session of which only the first part has come, and its source, which goes on.
class GrowthTest : public ShellTest {
protected:
    /// The recording of a sample, as its recorder would have written it; `withBase`: begun in the middle of
    /// the run.
    static wire::Bytes written(const QString& sample, bool begunLate)
    {
        auto recording = model::readRecording(sample.toStdString(), {}, {});
        EXPECT_TRUE(recording);
        const auto whole = begunLate ? withBase(std::move(*recording)) : std::move(*recording);
        wire::MemorySink sink;
        EXPECT_TRUE(model::writeSession(*whole, sink));
        return inLittleChunks(sink.bytes(), 1);
    }

    /// Opens a file of the first part of the session in the window.
    void begin(wire::Bytes session, double share)
    {
        m_bytes = std::move(session);
        m_fed = static_cast<std::size_t>(share * static_cast<double>(m_bytes.size()));
        m_path = file("run.strata", bytes(m_fed));
        ASSERT_NO_FATAL_FAILURE(open(m_path));
        m_stream = std::make_unique<model::SessionStream>(
            model::SessionStream::Options{ .path = m_path.toStdString() });
        ASSERT_TRUE(m_stream->feed(std::span(m_bytes).first(m_fed)));
    }
    /// The source tells of the session up to there; the window has it in a moment.
    void tell(double share)
    {
        const auto until = static_cast<std::size_t>(share * static_cast<double>(m_bytes.size()));
        ASSERT_TRUE(m_stream->feed(std::span(m_bytes).subspan(m_fed, until - m_fed)));
        m_fed = until;
        show();
    }
    /// The same, and waits until every page shows it.
    void grow(double share)
    {
        ASSERT_NO_FATAL_FAILURE(tell(share));
        ASSERT_NO_FATAL_FAILURE(settle());
    }
    /// All of it has come.
    void end()
    {
        ASSERT_TRUE(m_stream->feed(std::span(m_bytes).subspan(m_fed)));
        ASSERT_TRUE(m_stream->finish());
        show();
        ASSERT_NO_FATAL_FAILURE(settle());
    }
    [[nodiscard]] model::EventIndex events() { return driver().device().trace->eventCount(); }

    QByteArray bytes(std::size_t count) const
    {
        return { reinterpret_cast<const char*>(m_bytes.data()), static_cast<qsizetype>(count) };
    }

    wire::Bytes m_bytes;
    std::size_t m_fed = 0;
    QString m_path;
    std::unique_ptr<model::SessionStream> m_stream;

private:
    void show()
    {
        auto generation = m_stream->publish();
        ASSERT_TRUE(generation);
        driver().document().show(*generation);
    }
};

} // namespace strata::test
