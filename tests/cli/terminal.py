"""What a program shows on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def on_terminal(command, columns=80, **options):
    """The output of a command that ends with status `status` (any where not given)."""
    status = options.pop("status", None)
    master, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=end, stderr=end,
                          **options) as process:
        os.close(end)
        output = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            output += chunk
        found = process.wait(timeout=600)
    os.close(master)
    if status not in (None, found):
        sys.exit(f"{command}: status {found}, not {status}")
    return output.decode().replace("\r\n", "\n")
