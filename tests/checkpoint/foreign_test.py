#!/usr/bin/python3
"""Checkpoints that other programs wrote, in dtypes of theirs."""

import pathlib
import sys
import tempfile
import zipfile

try:
    import numpy
except ImportError:
    sys.exit(77)

from programs import fail, program, write  # noqa: E402

NARROW = """dim a = 2, b = 3
mesh m = [x: 2]
layout split on m { a -> x }
state half : f32[a, b] = zeros
state brain : f32[a, b] = zeros
state long : f64[b] = zeros
state count : i64[b] = zeros
state flag : bool[] = zeros
print count
restore "foreign.safetensors"
print half, brain, long, count, flag
"""


def of_others(folder):
    values = numpy.array([[1, -2.5, 0.099975586], [65504, 0, 3]], "<f4")
    arrays = {"half": values.astype("<f2"), "brain": (values.view("<u4") >> 16).astype("<u2"),
              "long": values[0], "count": numpy.array([-3, 4, 2**31 - 1], "<i4"),
              "flag": numpy.array(True), "unused": numpy.zeros((0, 3), "<f4")}
    write(pathlib.Path(folder, "foreign.safetensors"), arrays)
    done = program(folder, NARROW)
    expected = ["1.0000", "-2.5000", "2147483647", "true", "65504"]
    if any(text not in done.stdout for text in expected) or "that no variable takes: `unused`" not in done.stderr:
        fail("widened", done.stdout, done.stderr)
    done = program(folder, NARROW.replace("count : i64", "count : i16"), status=1)
    if "`count` is i16[b 3], and i32[3] in the file; `restore …, cast = true`" not in done.stderr:
        fail("narrowing", done.stderr)
    program(folder, NARROW.replace("count : i64", "count : i16").replace(
        '.safetensors"', '.safetensors", cast = true'))
    done = program(folder, NARROW.replace('.safetensors"', '.safetensors" as "encoder/*"'), status=1)
    if "no variable is called `encoder/*`; there are `brain`, `count`, `flag`, " not in done.stderr:
        fail("a glob that names nothing", done.stderr)
    done = program(folder, NARROW.replace("state half", "param weight").replace("print half", "print weight"), status=1)
    if "`weight` is not in the file\n" not in done.stderr or "note: the file has `half` and `unused`\n" not in done.stderr:
        fail("names of another program", done.stderr)
    done = program(folder, NARROW.replace("brain : f32[a, b]", "brain : f32[b, a]"), status=1)
    if "`brain` is f32[b 3, a 2], " not in done.stderr or "; in its order the dims are [a 2, b 3]\n" not in done.stderr:
        fail("dims in another order", done.stderr)
    write(pathlib.Path(folder, "foreign.safetensors"), arrays, {"count": "F8_E4M3"})
    done = program(folder, NARROW, status=1)
    if "not those of its shape" not in done.stderr:
        fail("a dtype of another width", done.stderr)
    with zipfile.ZipFile(pathlib.Path(folder, "foreign.safetensors"), "w") as archive:
        archive.writestr("data.pkl", b"as torch.save writes")
    done = program(folder, NARROW, status=1)
    if "is a zip file, as `torch.save`" not in done.stderr:
        fail("a zip file", done.stderr)


BOOLS = """dim a = 6
mesh m = [x: 3]
layout split on m { a -> x }
state flag : bool[a] = zeros
state count : i32[a] = zeros
restore "bools.safetensors", cast = true
print list(cast(flag, i32)), list(count), all(flag == (count == 1)), sum(cast(flag, i32))
"""


def of_bools(folder):
    """All bytes but 0 are true, as NumPy has it, and the same as 1."""
    flags = numpy.array([0, 1, 2, 255, 0, 128], "u1")
    write(pathlib.Path(folder, "bools.safetensors"), {"flag": flags, "count": flags},
          {"flag": "BOOL", "count": "BOOL"})
    for words in ([], ["--layout", "split"], ["-n", "3", "--layout", "split"]):
        done = program(folder, BOOLS, *words)
        if done.stdout != "[0, 1, 1, 1, 0, 1] [0, 1, 1, 1, 0, 1] true 4\n":
            fail("bools", words, done.stdout)


UNSIGNED = """dim a = 4, b = 3
mesh m = [x: 2]
layout rows on m { a -> x }
layout cols on m uneven { b -> x }
state short : i32[a, b] = zeros
state word : i64[a, b] = zeros
state long : i64[a, b] = zeros
print sum(short)
restore "unsigned.safetensors"
print list(short)
print list(word)
print list(long)
"""


def of_unsigned_integers(folder):
    file = pathlib.Path(folder, "unsigned.safetensors")
    places = numpy.arange(12).reshape(4, 3)
    arrays = {"short": (65535 - places).astype("<u2"), "word": (2**32 - 1 - places).astype("<u4"),
              "long": (2**63 - 1 - places.astype("<u8")).astype("<u8")}
    write(file, arrays, {"short": "U16"})
    for words in (["--layout", "rows"], ["--layout", "cols"], ["-n", "2", "--layout", "cols"]):
        done = program(folder, UNSIGNED, *words)
        if done.stdout.splitlines()[1:] != [str(array.tolist()) for array in arrays.values()]:
            fail("unsigned integers", words, done.stdout)
    narrow = UNSIGNED.replace("short : i32", "short : i16")
    done = program(folder, narrow, "--layout", "rows", status=1)
    if "`short` is i16[a 4, b 3], and U16[4, 3] in the file; `restore …, cast = true`" not in done.stderr:
        fail("unsigned integers narrowed", done.stderr)
    done = program(folder, narrow.replace('.safetensors"', '.safetensors", cast = true'), "--layout", "rows")
    if done.stdout.splitlines()[1] != str(arrays["short"].astype("<i2").tolist()):
        fail("unsigned integers cast", done.stdout)
    arrays["long"][3, 1] += 2**63
    write(file, arrays, {"short": "U16"})
    done = program(folder, UNSIGNED, "-n", "2", "--layout", "rows", status=1)
    said = f"`long` holds {arrays['long'][3, 1]} as element 10, which is beyond i64; stored as F64"
    if said not in done.stderr:
        fail("beyond i64", said, done.stderr)


with tempfile.TemporaryDirectory() as scratch:
    of_others(scratch)
    of_bools(scratch)
    of_unsigned_integers(scratch)
