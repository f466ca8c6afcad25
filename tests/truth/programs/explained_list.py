# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose explanations are known: families of ledgers, out-of-memories and loops, and which of them nobody tunes against.

Nothing here needs torch. explained_ledgers.py, explained_ooms.py, explained_loops.py, explained_doubts.py and explained_held.py have a
function for each family.
"""
import collections

import explained_held_list as held

KINDS = ("ledgers", "ooms", "loops", "doubts")

LEDGERS = ("perceptron", "convolutions", "transformer_autocast", "accumulation", "updates_by_hand", "weights_in_init", "weights_without_grad",
           "data_assigned", "loaded_weights", "keys_and_values", "embeddings", "averages", "frozen_parts", "evaluation_only", "preloaded_inputs",
           "checkpoints", "graph_kept", "buckets", "adapters", "two_players", "recurrent", "half_inference", "teacher_student", "replay_buffer",
           "master_weights", "adam_by_hand", "functional_call", "autocast_evaluation", "masks_and_tables", *held.LEDGERS)

#: Of an out-of-memory: verdicts of `strata oom` that name its cause, the category that fills the device (None: none of Strata's), whether
#: an allocator setting serves the request, and edits of the program that do: name -> what an advice has to say to mean that edit.
Cause = collections.namedtuple("Cause", "verdicts fills setting edits", defaults=(False, {}))
BATCH, CHECKPOINT = r"batch", r"checkpoint"
NO_GRAD, DETACH, ON_HOST = r"no_grad|inference_mode", r"detach|\.item\(\)|without its graph|del loss", r"\.cpu\(\)|to\(\"cpu\"\)|on the CPU|host"
HALF, SEQUENCE = r"bf16|bfloat16|float16|half precision|dtype", r"sequence length"
OOMS = {
    "model_too_large": Cause({"too_big"}, "parameter", False, {"half": HALF}),
    "batch_too_large": Cause({"too_big"}, "activation", False, {"half_batch": BATCH, "checkpoint": CHECKPOINT}),
    "losses_kept": Cause({"too_big", "leak"}, "activation", False, {"detach": DETACH}),
    "outputs_kept": Cause({"too_big", "leak"}, None, False, {"on_host": ON_HOST}),
    "evaluation_with_grad": Cause({"too_big"}, "activation", False, {"no_grad": NO_GRAD}),
    "mixed_sizes": Cause({"fragmented"}, None, True),
    "stream_cache": Cause({"fragmented", "other_streams", "streams"}, None, True, {"one_stream": r"stream"}),
    "fraction_limit": Cause({"limit", "memory_fraction", "fraction"}, None, False, {"whole_device": r"fraction|limit"}),
    "one_huge": Cause({"too_big"}, None, False, {"chunked": r"chunk|pieces|parts|smaller"}),
    "graph_pools": Cause({"private_pools"}, None, False, {"shared_pool": r"pool"}),
    "first_optimizer_step": Cause({"too_big"}, None, False, {"sgd": r"optimizer|SGD|8-bit|8 bit"}),
    "second_process": Cause({"other_process"}, None),
    "library_memory": Cause({"outside_pytorch"}, None),
    "logits_huge": Cause({"too_big"}, "activation", False, {"half_batch": BATCH, "chunked_loss": r"logits|linear_cross_entropy|chunk"}),
    "graphs_retained": Cause({"too_big", "leak"}, "activation", False, {"detach": r"retain_graph|" + DETACH}),
    "scores_of_attention": Cause({"too_big"}, "activation", False, {"fused_attention": r"scaled_dot_product_attention|attention",
                                                                   "half_batch": BATCH, "half_sequence": SEQUENCE}),
    "weights_twice": Cause({"too_big"}, "parameter", False, {"map_to_host": r"map_location|" + ON_HOST}),
    "halves_pinned": Cause({"fragmented"}, None, True),
    "keys_and_values": Cause({"too_big"}, None, False, {"preallocate": r"preallocat|in advance|once"}),
    "copies_of_model": Cause({"too_big"}, "parameter", False, {"one_copy": r"cop(y|ies)|deepcopy"}),
    "pending_frees": Cause({"pending_free"}, None, False, {"synchronize": r"record_stream|synchroni|wait"}),
    "gradients_and_states": Cause({"too_big"}, None, False, {"sgd": r"optimizer|SGD|8-bit|8 bit", "half": HALF}),
    **{family: Cause(*fields) for family, fields in held.OOMS.items()},
}

#: Loops: whether the memory grows for as long as they run.
LOOPS = {
    "losses_kept": True, "hidden_not_detached": True, "outputs_of_evaluation": True, "results_joined": True, "serving_by_new_keys": True,
    "exceptions_kept": True, "outputs_by_hook": True, "optimizers_made_anew": True, "sum_of_losses": True, "cycles_uncollected": True,
    "gradients_of_gradients_kept": True,
    "training": False, "evaluation": False, "serving": False, "cache_that_fills": False, "retries": False, "cycles_collected": False,
    "alternating_sizes": False, "warm_up_only": False, "window_of_outputs": False, "generation": False, "epochs_with_evaluation": False,
    **held.LOOPS}

#: Trainings in which memory of one category looks like that of another: see explained_doubts.py.
DOUBTS = ("locals_kept", "dropped_by_hooks", "batches_dropped", "teacher_dropped", "gradients_of_inputs", "captured_by_hooks", "penalty",
          "backward_of_backward", "graphs_of_gradients", "graph_twice", "large_as_workspaces", "noise_as_workspaces", "stepped_by_hooks",
          "states_made_anew", "carried", "functions_of_python", "weights_normed", "learned_twice", "closures", "sparse_gradients",
          "gradients_moved")

#: Out-of-memories whose cause a snapshot does not hold: "unknown" is right there.
NOT_IN_SNAPSHOTS = ("second_process", "library_memory", *held.NOT_IN_SNAPSHOTS)

FAMILIES = {"ledgers": tuple(LEDGERS), "ooms": tuple(OOMS), "loops": tuple(LOOPS), "doubts": DOUBTS}

#: Never tuned against. Who makes a rule opens explained_held.py and explained_held_list.py only after their first run.
HELD_BACK = {"doubts": (), "ledgers": tuple(held.LEDGERS), "ooms": tuple(held.OOMS), "loops": tuple(held.LOOPS)}
TUNED = 30  # programs of a kind, at least

Program = collections.namedtuple("Program", "kind family seed name")


def programs(kind, held_back=False, seeds=None):
    """One program of each held-back family of a kind, or 30 at least of the others. With `seeds`: so many of each family."""
    families = [name for name in FAMILIES[kind] if (name in HELD_BACK[kind]) == held_back]
    seeds = seeds or (kind == "doubts")
    count = seeds * len(families) if seeds else len(families) if held_back else max(TUNED, len(families))
    found = [(families[index % len(families)], index // len(families)) for index in range(count)]
    return [Program(kind, family, seed, f"{kind}-{family}-{seed}") for family, seed in found]
