"""`auto`: searched once, kept, the same for all ranks; with --locked nothing new is searched."""

import os
import subprocess
import sys
import tempfile

PROGRAM = """
import optim
dim batch = 64, io = 32, hidden = {hidden}
mesh grid = [rows: 2, cols: 2]
layout quick on grid auto {{ batch -> rows }}
layout plain on grid {{ batch -> rows, hidden -> cols }}
model net(x: f32[batch, io]) -> f32[batch, io] {{
  param w : f32[io, hidden] = normal(stddev = 0.1)
  return einsum(relu(einsum(x, w -> [batch, hidden])), w -> [batch, io])
}}
fn step(x: f32[batch, io]) {{
  let loss = mean(square(net(x) - x))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}}
let x = normal([batch, io], seed = 7)
for i in 0..3 {{ print "loss {{step(x)}}" }}
"""


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.mtf")
        env = dict(os.environ, XDG_CACHE_HOME=folder, OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

        def write(hidden):
            with open(path, "w", encoding="utf-8") as file:
                file.write(PROGRAM.format(hidden=hidden))

        def run(*words, ranks=0):
            start = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
            done = subprocess.run([*start, binary, *words, path], capture_output=True, text=True,
                                  env=env, timeout=120, check=False)
            return done.returncode, done.stdout, done.stderr

        write(128)
        status, _, errors = run("run", "--layout", "quick", "--locked")
        assert status == 1 and errors.count("error:") == 1, errors
        assert "no answer for this program" in errors, errors
        # Of an axis that only what is not searched may use, nothing is said.
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(hidden=128).replace("hidden -> cols", ""))
        status, _, errors = run("check", "--layout", "quick", "--locked")
        assert status == 1 and errors.count("error:") == 1 and "warning" not in errors, errors
        write(128)
        status, plain, errors = run("run", "--layout", "plain", "--locked")
        assert status == 0 and not errors, errors
        status, first, errors = run("run", "--layout", "quick", ranks=4)
        assert status == 0 and errors.count("mtf: found layout quick") == 1, errors
        status, again, errors = run("run", "--layout", "quick", "--locked")
        assert status == 0 and not errors, errors
        assert first == again == plain, (first, again, plain)
        # Another program is another question.
        write(64)
        status, _, errors = run("check", "--layout", "quick", "--locked")
        assert status == 1 and "no answer for this program" in errors, errors
        # So is the same program with another `expect`, or another number in it.
        for clause in ("all_gather = 0", "collectives < 7", "collectives < 8"):
            write(128)
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"expect step {{ {clause} }}\n")
            status, _, errors = run("check", "--layout", "quick", "--locked")
            assert status == 1 and "no answer for this program" in errors, (clause, errors)
            status, _, errors = run("check", "--layout", "quick")
            assert status == 0 and "mtf: found" in errors, (clause, errors)
        # A file of this name that answers another question is none.
        write(128)
        kept = os.path.join(folder, "mtf", "layouts")
        for name in os.listdir(kept):
            with open(os.path.join(kept, name), "r+", encoding="utf-8") as file:
                mark, answer = file.read().split("\n", 1)
                assert mark.startswith("of "), mark
                file.seek(0)
                file.write(f"of {'0' * 16} {mark.split()[-1]}\n{answer}")
        status, _, errors = run("check", "--layout", "quick", "--locked")
        assert status == 1 and "no answer for this program" in errors, errors
        status, _, errors = run("check", "--layout", "quick")
        assert status == 0 and "mtf: found" in errors, errors
        status, _, errors = run("check", "--layout", "quick", "--locked")
        assert status == 0 and not errors, errors
        # What is kept may be broken: it is searched again.
        for name in os.listdir(kept):
            with open(os.path.join(kept, name), "w", encoding="utf-8") as file:
                file.write("says nothing\nrule batch . nowhere\n")
        status, again, errors = run("run", "--layout", "quick")
        assert status == 0 and "mtf: found" in errors and again == plain, errors
        status, _, errors = run("verify")
        assert status == 0 and not errors, errors
        # What cannot be kept is said to be so, once.
        env["XDG_CACHE_HOME"] = "/dev/null"
        for ranks in (0, 4):
            status, again, errors = run("run", "--layout", "quick", ranks=ranks)
            assert status == 0 and again == plain, errors
            assert errors.count("is not kept, and searched anew next time: `/dev/null/mtf/") == 1, errors
    print("searched once, kept, and the same on all ranks")


if __name__ == "__main__":
    main()
