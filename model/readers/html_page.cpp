// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/html_page.h"

#include "model/readers/source/byte_stream.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace strata::model {

namespace {

/// How a snapshot begins in a page. The base64 form is what _memory_viz.py writes today.
struct Marker {
    std::string_view text;
    bool base64;
};

constexpr std::array kMarkers{
    Marker{ "\"base64\": \"", true },
    Marker{ "\"base64\":\"", true },
    Marker{ "{\"segments\":", false },
    Marker{ "{\"device_traces\":", false },
};
constexpr std::size_t kLongestMarker = 20;

} // namespace

Result<std::unique_ptr<ByteSource>> snapshotInPage(std::unique_ptr<ByteSource> page, const Progress& progress)
{
    ByteStream stream(std::move(page), progress);
    const std::uint8_t* at = stream.next();
    bool isTimeline = false; // of torch.profiler's export_memory_timeline()
    for (;;) {
        const bool more = stream.fill(at, ByteStream::kPiece / 2);
        const std::string_view text{ reinterpret_cast<const char*>(stream.next()),
            static_cast<std::size_t>(stream.end() - stream.next()) };
        isTimeline = isTimeline || text.find("<title>GPU Memory Timeline HTML</title>") != text.npos;
        std::size_t first = text.npos;
        const Marker* found = nullptr;
        for (const Marker& marker : kMarkers) {
            if (const std::size_t place = text.find(marker.text); place < first) {
                first = place;
                found = &marker;
            }
        }
        if (found != nullptr) {
            const std::size_t begin = first + (found->base64 ? found->text.size() : 0);
            std::unique_ptr<ByteSource> rest = std::move(stream).rest(stream.next() + begin);
            return found->base64 ? base64Source(std::move(rest)) : std::move(rest);
        }
        if (stream.error())
            return Failure(*stream.error());
        if (!more)
            return isTimeline ? fail(Error::Kind::Format,
                       say("this page is the picture of a memory timeline, without its numbers"),
                       say("export it again with a name that ends in .raw.json.gz, and open that"))
                              : fail(Error::Kind::Format,
                                  say("this page holds no snapshot (its pictures alone cannot be read back)"),
                                  say("open the .pickle file that the page was made from"));
        at = stream.end() - std::min(text.size(), kLongestMarker);
    }
}

} // namespace strata::model
