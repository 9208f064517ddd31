#!/usr/bin/env python3
"""`mtf fmt`: what it writes, what it leaves alone, and how it says what is wrong."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import check  # noqa: E402

MTF = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
UGLY = b"let a=1\r\n\r\n\r\nlet  b = 2 # \xc3\xa9"
NEAT = b"let a = 1\n\nlet b = 2  # \xc3\xa9\n"


def mtf(*args, text=None, cwd=None):
    return subprocess.run([MTF, "fmt", *args], input=text, capture_output=True, cwd=cwd, timeout=60)


def files(folder):
    ugly = folder / "ugly.mtf"
    ugly.write_bytes(UGLY)
    ugly.chmod(0o750)
    neat = folder / "neat.mtf"
    neat.write_bytes(NEAT)
    os.utime(neat, (1, 1))

    done = mtf("--check", ugly.name, neat.name, cwd=folder)
    check(done.returncode == 1 and done.stdout == b"ugly.mtf\n" and not done.stderr, done)
    check(ugly.read_bytes() == UGLY, "--check changes nothing")

    done = mtf(ugly.name, neat.name, cwd=folder)
    check(done.returncode == 0 and not done.stdout and not done.stderr, done)
    check(ugly.read_bytes() == NEAT, ugly.read_bytes())
    check(ugly.stat().st_mode & 0o777 == 0o750, "permissions stay")
    check(neat.stat().st_mtime == 1, "what does not change is not written")
    done = mtf("--check", ugly.name, neat.name, cwd=folder)
    check(done.returncode == 0 and not done.stdout, done)

    link = folder / "link.mtf"
    ugly.write_bytes(UGLY)
    link.symlink_to(ugly.name)
    check(mtf("link.mtf", cwd=folder).returncode == 0, "a link")
    check(link.is_symlink() and ugly.read_bytes() == NEAT, "a link stays one")
    check(sorted(p.name for p in folder.iterdir()) == ["link.mtf", "neat.mtf", "ugly.mtf"],
          "nothing is left beside them")
    for name, text in {"empty": b"", "bom": b"\xef\xbb\xbflet a  =  1\n"}.items():
        done = mtf("--stdin", text=text)
        check(done.returncode == 0 and done.stdout == (b"let a = 1\n" if text else b""), name, done)


def mistakes(folder):
    wrong = folder / "wrong.mtf"
    ugly = folder / "ugly.mtf"
    wrong.write_bytes(b"let  = 1\n")
    ugly.write_bytes(UGLY)
    done = mtf("wrong.mtf", "none.mtf", "ugly.mtf", cwd=folder)
    check(done.returncode == 1, done)
    check(b"wrong.mtf:1:6: error: " in done.stderr and b"[syntax]" in done.stderr, done.stderr)
    check(b"`none.mtf` cannot be read: there is no such file" in done.stderr, done.stderr)
    check(wrong.read_bytes() == b"let  = 1\n" and ugly.read_bytes() == NEAT, "each by itself")
    done = mtf("--stdin", text=b"let  = 1\n")
    check(done.returncode == 1 and not done.stdout and b"<stdin>:1:6" in done.stderr, done)
    done = mtf()
    check(done.returncode == 2 and b"which files?" in done.stderr, done)
    done = mtf("--chek", "ugly.mtf")
    check(done.returncode == 2 and b"did you mean `--check`" in done.stderr, done)
    if os.geteuid() != 0:
        ugly.write_bytes(UGLY)
        ugly.chmod(0o440)
        done = mtf("ugly.mtf", cwd=folder)
        check(done.returncode == 1 and b"cannot be written" in done.stderr, done)
        check(ugly.read_bytes() == UGLY, "left as it was")


def project():
    programs = [str(p.relative_to(ROOT)) for folder in ("examples", "stdlib", "tests/golden")
                for p in sorted((ROOT / folder).rglob("*.mtf"))]
    done = mtf("--check", *programs, cwd=ROOT)
    check(not done.stdout, "run `mtf fmt` on", done.stdout.decode())


with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
    files(pathlib.Path(one))
    mistakes(pathlib.Path(two))
project()
