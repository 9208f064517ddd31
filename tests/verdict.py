"""What a script says of what is not as it should be: at once, or of all of it at the end."""

import sys


def fail(what, *texts):
    sys.exit("\n".join([str(what), *map(str, texts)]))


def check(holds, *what):
    if not holds:
        fail("failed: " + " ".join(map(str, what)))


def check_equal(what, found, wanted):
    if found != wanted:
        fail(f"{what}: {found!r}, not {wanted!r}")


class Failures(list):
    """What goes on being looked at after the first one."""

    def check(self, what, holds):
        if not holds:
            self.append(what)

    def check_equal(self, what, found, wanted):
        self.check(f"{what}: {found!r}, not {wanted!r}", found == wanted)

    def end(self):
        if self:
            fail("\n".join(self))
