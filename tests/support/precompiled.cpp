// SPDX-License-Identifier: GPL-3.0-or-later
// Belongs to a target that exists for its precompiled headers alone.
