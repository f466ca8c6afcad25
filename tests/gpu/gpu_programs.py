# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that are run on a real GPU, and a simulated device of its size, for tests/gpu/run and for what is held against its
recordings."""
import os

TRUTH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "truth", "programs")

# (name, allocator settings, program); paths from tests/truth/programs on.
PROGRAMS = [
    ("sdpa", "", "train.py gpt --precision autocast"),
    ("sdpa-bf16", "", "train.py gpt --precision bf16 --optimizer adamw_fused"),
    ("cudnn", "", "train.py unet --precision autocast"),
    ("cudnn-fp32", "", "train.py resnet --optimizer momentum"),
    ("streams", "", "train.py gpt --option side_stream --option variable_shapes --steps 6"),
    ("out-of-memory", "", "train.py mlp --option out_of_memory"),
    ("expandable", "expandable_segments:True", "train.py gpt --option variable_shapes --steps 6"),
    ("rnn", "", "train.py lstm --optimizer adam"),
    ("loop", "", "train.py mlp --optimizer adamw_loop"),
    ("checkpoint", "", "train.py gpt --option checkpoint --option accumulate"),
    ("several", "", "../../gpu/several.py"),
    ("several-expandable", "expandable_segments:True", "../../gpu/several.py"),
    ("conv", "", "train.py conv"),
    ("conv-autocast", "", "train.py resnet --precision autocast"),
    ("diffusion", "", "train.py diffusion --precision bf16"),
    ("gan", "", "train.py gan"),
    ("vit", "", "train.py vit --precision autocast"),
    ("llama", "", "train.py llama --precision bf16 --steps 2"),
    ("t5", "", "train.py t5 --precision fp16"),
    ("gpt2", "", "train.py gpt2_124m --precision autocast --steps 2"),
]
# (name, allocator settings, program): worth having as recordings that torch.profiler has an account of as well.
TRACED = [
    ("training", "", "train.py gpt --precision autocast"),
    ("pictures", "", "train.py unet --precision autocast"),
    ("several", "", "../../gpu/several.py"),
    ("several-expandable", "expandable_segments:True", "../../gpu/several.py"),
]


def words_of(program):
    script, *options = program.split()
    return [os.path.normpath(os.path.join(TRUTH, script)), *options]


def settings_of(gpu):
    """Of a simulated device like `gpu`, whose keys are those of tests/gpu/run."""
    return ";".join(f"{key}={gpu[key]}" for key in ("capacity", "cc", "sms", "l2", "devices"))
