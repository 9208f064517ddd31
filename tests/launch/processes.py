"""The processes of a run, for tests that watch or kill them."""

import pathlib


def ranks_of(launcher):
    """The processes that run mtf itself: mpirun's children, or the one that was started."""
    below = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == launcher:
                below.append(int(entry.name))
        except (OSError, IndexError):
            pass
    return sorted(below) or [launcher]
