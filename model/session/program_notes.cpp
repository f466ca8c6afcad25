// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/program_notes.h"

#include "model/wire/annotation_names.h"

#include <xxhash.h>

namespace strata::model {

namespace {

bool isNote(const Recording& recording, const Annotation& annotation)
{
    return annotation.kind == Annotation::Kind::Mark && annotation.name.valid()
        && recording.strings[annotation.name].starts_with(wire::kNotePrefix);
}

/// The same one has the same key whenever it is read, and in copies of the recording, whatever they left out.
std::uint64_t keyOf(const Annotation& annotation)
{
    return XXH3_64bits_withSeed(&annotation.timeNs, sizeof annotation.timeNs, annotation.thread);
}

/// The last event at or before the time; -1 if there is none. As Clock has it, without one.
EventIndex eventAt(const DeviceRecording& device, std::int64_t timeNs)
{
    const auto& times = device.events.timeNs;
    EventIndex event = 0;
    while (event < std::ssize(times) && times[static_cast<std::size_t>(event)] <= timeNs)
        ++event;
    return event - 1;
}

} // namespace

void addProgramNotes(Recording& recording, int device)
{
    UserData notes;
    for (const Annotation& annotation : recording.annotations) {
        if (!isNote(recording, annotation))
            continue;
        const DeviceRecording* const of = recording.find(annotation.device >= 0 ? annotation.device : device);
        if (!of || !of->events.hasTimes())
            continue;
        UserItem note;
        note.key = keyOf(annotation);
        note.changedNs = annotation.timeNs;
        note.device = of->device;
        note.first = note.last = eventAt(*of, annotation.timeNs);
        note.text = recording.strings[annotation.name].substr(wire::kNotePrefix.size());
        notes.set(std::move(note));
    }
    recording.user.merge(notes);
}

} // namespace strata::model
