# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of explained_held.py, of which rules know nothing. Nothing here needs torch. explained_list.py says what the tables mean."""

LEDGERS = ("diffusion", "quantised_adapters", "rollouts", "queue_of_keys", "experts", "orthogonal_updates", "served_from_file", "ensemble",
           "scaled_prefetch", "growing_points")

ON_HOST, HALF = r"\.cpu\(\)|to\(\"cpu\"\)|on the CPU|host", r"bf16|bfloat16|float16|half precision|dtype"
OPTIMIZER, NO_GRAD, BATCH = r"optimizer|SGD|8-bit|8 bit", r"no_grad|inference_mode", r"batch"
#: The fields of explained_list.Cause.
OOMS = {
    "features_by_hook": ({"too_big", "leak"}, None, False, {"on_host": ON_HOST, "cleared": r"clear|hook|list"}),
    "dataset_on_device": ({"too_big"}, "input", False, {"on_host": ON_HOST, "half": HALF, "half_batch": BATCH}),
    "longer_texts": ({"fragmented"}, None, True, {"on_host": ON_HOST, "longest_first": r"longest|largest first|descending|sort"}),
    "worker_share": ({"limit", "memory_fraction", "fraction"}, None, False, {"whole_device": r"fraction|limit"}),
    "neighbour": ({"other_process"}, None),
    "shapes_mismatched": ({"too_big"}, None, False, {"same_shape": r"shape|broadcast|squeeze", "chunked": r"chunk|pieces|parts|smaller"}),
    "overlapped_capture": ({"pending_free"}, None, False, {"wait": r"record_stream|synchroni|wait"}),
    "captured_sizes": ({"private_pools"}, None, False, {"shared_pool": r"pool"}),
    "temporaries_of_foreach": ({"too_big"}, "optimizer_state", False, {"one_by_one": r"foreach|fused", "sgd": OPTIMIZER, "half": HALF}),
    "metric_graph": ({"too_big"}, "activation", False, {"no_grad": NO_GRAD, "dropped": r"\bdel\b|drop|detach", "half_batch": BATCH})}
NOT_IN_SNAPSHOTS = ("neighbour",)
#: Bytes of the device that another process holds.
OTHERS = {"neighbour": 1200 << 20}

LOOPS = {"cached_by_tensor": True, "hooks_registered": True, "heads_added": True, "histograms_logged": True, "conversation": True,
         "epochs_with_lists": False, "masks_by_length": False, "best_of_run": False, "curriculum": False, "folds": False}
