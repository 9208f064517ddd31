"""What the tests of the library share: a program run under each of its layouts, to the same bits."""

import os
import re
import subprocess
import tempfile

import numpy as np


def run(mtf, program, given, layouts):
    """The arrays that the program writes, by name; SystemExit where a layout changes a bit."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, array in given.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        with open(os.path.join(folder, "program.mtf"), "w", encoding="utf-8") as file:
            file.write(program)
        for layout in layouts:
            done = subprocess.run([mtf, "run", "program.mtf", "--layout", layout], cwd=folder,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"{layout}: {done.stderr}{done.stdout}")
            for name in re.findall(r'write\("(\w+)\.npy"', program):
                array = np.load(os.path.join(folder, name + ".npy"))
                if found.setdefault(name, array).tobytes() != array.tobytes():
                    raise SystemExit(f"{name}: other bits under {layout} than under {layouts[0]}")
    return found


def command(mtf, arguments, program):
    """What `mtf ARGUMENTS` says of a program that is its standard input."""
    done = subprocess.run([mtf, *arguments], input=program, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.stderr}{done.stdout}")
    return done.stdout


def differences(found, wanted, rtol=1e-9, atol=1e-11):
    """How many arrays are not as wanted; says which."""
    bad = 0
    for name, array in wanted.items():
        if not np.allclose(found[name], array, rtol=rtol, atol=atol):
            print(f"{name}: {np.abs(found[name] - array).max()} off")
            bad += 1
    return bad
