"""What the exact tests share: programs run under layouts, meshes, instruction sets and mpirun."""

import collections
import os
import re
import subprocess
import tempfile

LONG = bool(os.environ.get("MTF_EXACT_LONG"))

# mtf's own word for a layout that the sizes or the axes do not permit, or an `expect` of another mesh.
REFUSED = re.compile(r"\[(indivisible|layout-conflict|expectation)\]")

ISAS = ("portable", "avx2", "avx512", "avx512_bf16")  # at most what the machine has is used

Run = collections.namedtuple("Run", "layout mesh isa ranks")  # ranks 0: simulated

# One step of training: more of them make much of little. Adam's first is as long for a gradient that is
# nothing but rounding, so that of the language model has a small rate.
ONE_STEP = {"examples/mnist.mtf": ("--set", "epochs=1,data=nowhere"),
            "examples/transformer_lm.mtf": ("--set", "steps=1,every=1,tested=1,sampled=24,lr=0.00001"),
            "examples/translate.mtf": ("--set", "steps=1,every=1,tested=16"),
            "examples/moe_lm.mtf": ("--set", "steps=1,every=1"),
            "examples/parallel/nested.mtf": ("--set", "steps=1,lr=0.00001"),
            "examples/resnet.mtf": ("--set", "steps=1,every=1,tested=16")}


def meshes_and_layouts(path):
    """{layout: [axis, …] of its mesh}, as the file declares them."""
    text = open(path).read()
    meshes = {name: re.findall(r"(\w+):", axes)
              for name, axes in re.findall(r"^mesh (\w+) *= *\[(.*?)\]", text, re.M)}
    return {name: meshes[mesh] for name, mesh in re.findall(r"^layout (\w+) +on (\w+)", text, re.M)}


def sizes_of(axes, ranks):
    """Every mesh of these axes, of sizes that are powers of two, with so many ranks."""
    if len(axes) == 1:
        return [{axes[0]: ranks}]
    result = []
    size = 1
    while size <= ranks:
        result += [{axes[0]: size, **rest} for rest in sizes_of(axes[1:], ranks // size)]
        size *= 2
    return result


def mesh_text(sizes):
    return ",".join(f"{axis}={size}" for axis, size in sizes.items())


def execute(mtf, path, run=None, more=(), cwd=None):
    """The finished process; run=None: one rank, whatever the file declares."""
    command = [mtf, "run", path, *more]
    environment = dict(os.environ)
    if run:
        command += ["--layout", run.layout, "--mesh", run.mesh] if run.layout else []
        environment["MTF_ISA"] = run.isa
        if run.ranks:
            command = ["mpirun", "-q", "--oversubscribe", "-n", str(run.ranks), *command]
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.run(command, capture_output=True, env=environment, cwd=cwd, timeout=3000)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="mtf_exact_")
