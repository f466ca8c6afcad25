# SPDX-License-Identifier: GPL-3.0-or-later
"""Which allocation a note of a program means: it has an address, and how many allocations there were."""
import bisect
import collections


def roles_of(notes, allocations):
    """{role: {number: name}} of notes [number of the next allocation, address, role, name]; the first name of a number counts.
    `allocations`: events of a snapshot in their order. Raises ValueError where nothing was allocated."""
    at = collections.defaultdict(list)
    for number, event in enumerate(allocations):
        at[event["addr"]].append(number)
    starts, roles = sorted(at), collections.defaultdict(dict)
    for next_number, address, role, name in notes:
        start = address if address in at else starts[max(0, bisect.bisect_right(starts, address) - 1)]
        place = bisect.bisect_left(at[start], next_number)
        number = at[start][place - 1]
        if place == 0 or start + allocations[number]["size"] <= address:
            raise ValueError(f"nothing was allocated at {address} for {role} {name}")
        roles[role].setdefault(number, name)
    return roles
