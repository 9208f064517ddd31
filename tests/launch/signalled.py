"""What becomes of a command that is sent signals while it runs."""

import pathlib
import subprocess
import threading
import time


def interrupted(folder, command, *signals):
    """Status, output and messages of what is sent the signals after its first line."""
    with open(pathlib.Path(folder, "messages"), "w+", encoding="utf-8") as messages:
        process = subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE,
                                   stderr=messages)
        output = process.stdout.readline()
        for i, number in enumerate(signals):
            if i > 0:
                time.sleep(0.5)  # two at once would be one
            process.send_signal(number)
        guard = threading.Timer(600, process.kill)
        guard.start()
        output += process.stdout.read()
        process.wait()
        guard.cancel()
        messages.seek(0)
        return process.returncode, output, messages.read()
