#!/usr/bin/python3
"""`mtf doctor` says what is missing and what mends it, and always ends: without mpirun, with one that
hangs, with one of something else, and with what `mtf calibrate` keeps in any state."""

import json
import mmap
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time

MTF = str(pathlib.Path(sys.argv[1]).resolve())
CHECKS = ["mpirun", "root", "ranks", "cores", "instructions", "memory", "shared memory",
          "temporary files", "calibration", "leftovers"]


def doctor(*words, launcher=(), **changes):
    environment = {**os.environ, **changes}
    environment = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run([*launcher, MTF, "doctor", *words], text=True, capture_output=True,
                          timeout=100, env=environment)


def findings(**changes):
    done = doctor("--json", **changes)
    found = json.loads(done.stdout)
    checks = {one["check"]: one for one in found["checks"]}
    fails = any(one["status"] == "failure" for one in checks.values())
    if list(checks) != CHECKS or done.stderr or done.returncode != fails:
        sys.exit(f"mtf doctor --json: status {done.returncode}\n{done.stdout}{done.stderr}")
    for one in checks.values():
        if (one["status"] == "ok") != (not one["fix"]) or not one["found"]:
            sys.exit(f"all but what is well has its fix: {one}")
    return checks


def expect(checks, name, status, *texts):
    one = checks[name]
    if one["status"] != status or not all(text in one["found"] + one["fix"] for text in texts):
        sys.exit(f"{name} is not {status} with {texts}: {one}")


def program(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def runs(pid):
    """Whether the process is there and has not been ended."""
    try:
        line = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return line.rpartition(")")[2].split()[0] not in "ZX"


def check_mpi(folder):
    checks = findings(XDG_CONFIG_HOME=folder)
    expect(checks, "mpirun", "ok", "Open")
    expect(checks, "ranks", "ok", "met")
    checks = findings(PATH=folder)
    expect(checks, "mpirun", "failure", "apt-get install openmpi-bin")
    expect(checks, "ranks", "failure", "apt-get install openmpi-bin")
    if os.geteuid() == 0:
        expect(findings(OMPI_ALLOW_RUN_AS_ROOT=None), "root", "warning", "OMPI_ALLOW_RUN_AS_ROOT=1")
        expect(findings(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), "root", "ok")
    path = f"{folder}:{os.environ['PATH']}"
    program(folder, "mpirun", "echo HYDRA build details; exit 3")
    checks = findings(PATH=path)
    expect(checks, "mpirun", "failure", "HYDRA")
    expect(checks, "ranks", "failure", "HYDRA")
    pids = pathlib.Path(folder, "pids")
    program(folder, "mpirun", f"if [ \"$1\" = --version ]; then echo $$ > {pids}\n"
            f"sleep 100000 & echo $! >> {pids}\nsleep 100000; fi; exit 1")
    expect(findings(PATH=path), "mpirun", "failure", "does not end")
    started = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
    if len(started) != 2:
        sys.exit(f"mpirun and its child were to be started: {started}")
    while any(runs(pid) for pid in started):  # else this test hangs
        time.sleep(0.01)
    pathlib.Path(folder, "mpirun").unlink()


def refused(config, words, what):
    """At once: it says so before it measures for minutes."""
    done = subprocess.run([MTF, *words], env=dict(os.environ, XDG_CONFIG_HOME=config), capture_output=True,
                          input="fn f(x: f32[a: 2]) { return sum(x) }\n", text=True, timeout=60, check=False)
    if done.returncode != 1 or what not in done.stderr:
        sys.exit(f"{words}: status {done.returncode}, no {what!r} in {done.stderr!r}")


def check_calibration(folder):
    kept = pathlib.Path(folder, "mtf", "this_machine.mtf")
    expect(findings(XDG_CONFIG_HOME=folder, PATH=folder), "calibration", "warning", "mtf calibrate")
    kept.parent.mkdir()
    profile = ("let this_machine = [\n  hardware_profile(ranks = 1, flops = 1e11, overhead = 1e-6, "
               "latency = 1e-6, bandwidth_per_rank = 1e9, memory_bandwidth = 1e10)]\n")
    for text, status, what in [(profile, "ok", "of today"),
                               ("# Of: an abacus, 1 cores\n" + profile, "warning", "an abacus"),
                               ("  # not trusted: products\n" + profile, "warning", "not trusted"),
                               ("let this_machine = [\n", "failure", "not a hardware profile"),
                               ("let other = 1\n", "failure", "not a hardware profile"),
                               ("", "failure", "not a hardware profile")]:
        kept.write_text(text, encoding="utf-8")
        expect(findings(XDG_CONFIG_HOME=folder, PATH=folder), "calibration", status, what)
        if status == "failure":
            refused(folder, ["cost", "-", "--hardware", "this_machine"], f"`{kept}` is not a hardware profile; `mtf calibrate` writes it anew")
    kept.unlink()
    kept.mkdir()
    expect(findings(XDG_CONFIG_HOME=folder, PATH=folder), "calibration", "warning", "mtf calibrate")
    refused(folder, ["calibrate"], f"`{kept}` cannot be written: it is a folder")
    kept.rmdir()
    kept.write_text("a file", encoding="utf-8")
    refused(str(kept), ["calibrate"], f"`{kept}/mtf/this_machine.mtf` cannot be written: Not a directory")
    kept.write_text(profile, encoding="utf-8")
    old = time.time() - 400 * 86400
    os.utime(kept, (old, old))
    expect(findings(XDG_CONFIG_HOME=folder, PATH=folder), "calibration", "warning", "400 days")


def check_machine(folder):
    checks = findings(PATH=folder, MTF_ISA="portable", TMPDIR=folder + "/none")
    if checks["instructions"]["status"] == "warning":
        expect(checks, "instructions", "warning", "unset MTF_ISA")
    expect(checks, "temporary files", "failure", "export TMPDIR=/tmp")


def check_leftovers(folder):
    """Of runs that were killed only: what a process has mapped, what is new, and others' files stay."""
    shared = pathlib.Path("/dev/shm")
    name = f"vader_segment.doctor_test_{os.getpid()}"
    dead, used, fresh, other = (shared / (name + end) for end in (".dead", ".used", ".new", ".other"))
    other = other.with_name("other_" + other.name)
    sessions = pathlib.Path(folder, f"ompi.{os.uname().nodename.partition('.')[0]}.{os.geteuid()}")
    with subprocess.Popen(["true"]) as process:
        process.wait()
    ended, running = sessions / f"pid.{process.pid}", sessions / f"pid.{os.getpid()}"
    try:
        old = time.time() - 3600
        for path in (ended, running):
            path.joinpath("0").mkdir(parents=True)
            os.utime(path, (old, old))
        for path in (dead, used, fresh, other):
            path.write_bytes(bytes(8192))
            if path != fresh:
                os.utime(path, (old, old))
        with open(used, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
            checks = findings(TMPDIR=folder)
            expect(checks, "leftovers", "warning", "of shared memory (", " and 1 folder of runs that were killed",
                   "mtf doctor --clean")
            if not dead.exists() or not ended.exists():
                sys.exit("without --clean, nothing is removed")
            done = doctor("--clean", TMPDIR=folder)
            if done.returncode != 0 or "killed, removed\n" not in done.stdout:
                sys.exit(f"mtf doctor --clean: {done}")
        left = [path for path in (dead, used, fresh, other, ended, running) if path.exists()]
        if left != [used, fresh, other, running]:
            sys.exit(f"mtf doctor --clean leaves {left}")
    finally:
        for path in (dead, used, fresh, other):
            path.unlink(missing_ok=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_mpi(folder)
        check_calibration(folder)
        check_machine(folder)
        check_leftovers(folder)
        text = doctor(XDG_CONFIG_HOME="/nonexistent").stdout
        if "fix: mtf calibrate\n" not in text or not all(f" {check} " in text for check in CHECKS):
            sys.exit(f"mtf doctor prints\n{text}")
    done = doctor(launcher=["mpirun", "-q", "--oversubscribe", "-n", "3"])
    if done.returncode != 0 or done.stdout != "3 ranks met, on one machine\n":
        sys.exit(f"mpirun -n 3 mtf doctor: {done}")


main()
