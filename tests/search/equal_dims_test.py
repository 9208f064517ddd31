"""Dims that play the same part are searched up to exchange: fewer layouts are planned, and the answer is as good."""

import sys

from programs import all_layouts, mtf

# Two towers that share nothing but the dims c and h.
PROGRAM = """dim a = {a}, b = {b}, c = 12, h = 48
mesh g = [r: 2, s: 3]
fn f(x: f32[a, c], y: f32[b, c]) {{
  param w : f32[c, h] = normal(stddev = 0.1)
  param v : f32[c, h] = normal(stddev = 0.1)
  let p = einsum(x, w -> [a, h])
  let q = einsum({factors} -> [b, h])
  return sum({one}, over = a), sum({other}, over = b)
}}
"""
NAMES = ["a", "b", "c", "h"]


def planned(binary, a=24, b=24, one="square(p)", other="square(q)", factors="y, v"):
    text = PROGRAM.format(a=a, b=b, one=one, other=other, factors=factors)
    status, found, errors = mtf(binary, "search", "-", "--over", "none", "--json", text=text)
    assert status == 0 and found["proven"], (found, errors)
    return found, text


def check_costs(binary, found, text):
    """What exchanges a and b takes the same time and nearly the same memory, and nothing costs less than the answer."""
    exchange = str.maketrans("ab", "ba")
    layouts = list(all_layouts(NAMES))
    costs = {}
    for first in range(0, len(layouts), 300):
        part = layouts[first:first + 300]
        declared = "".join(f"layout l{i} on g {{ {rules} }}\n" for i, rules in enumerate(part))
        _, answer, _ = mtf(binary, "cost", "-", "f", "--json", text=text + declared)
        for rules, row in zip(part, answer["layouts"]):
            if row["legal"]:
                costs[rules] = (row["seconds"], row["totals"]["peak_bytes"])
    assert costs
    for rules, cost in costs.items():
        other = "; ".join(sorted(rules.translate(exchange).split("; "))).strip()
        # Which output's buffer serves first depends on their order.
        same = abs(costs[other][0] - cost[0]) <= 1e-12 and abs(costs[other][1] - cost[1]) <= cost[1] / 20
        assert same, (rules, other)
    least = min(seconds for seconds, _ in costs.values())
    assert abs(found["best"]["seconds"] - least) <= 1e-9 * least, (found["best"], least)


def check_turned(equal, turned):
    """As few are planned, and the answer costs the same."""
    assert turned["priced"] == equal["priced"], (turned["priced"], equal["priced"])
    assert abs(turned["best"]["seconds"] / equal["best"]["seconds"] - 1) <= 1e-9, (turned["best"], equal["best"])


def main():
    binary = sys.argv[1]
    equal, text = planned(binary)
    check_costs(binary, equal, text)
    # In whatever order sums and products have their operands.
    turned, text = planned(binary, factors="v, y")
    check_costs(binary, turned, text)
    check_turned(equal, turned)
    product = "tanh(p) * p + p"
    as_it_is, _ = planned(binary, one=product, other=product.replace("p", "q"))
    check_turned(as_it_is, planned(binary, one=product, other="q + q * tanh(q)")[0])
    minus, _ = planned(binary, one="tanh(p) - p", other="q - tanh(q)")
    assert as_it_is["priced"] < minus["priced"], (as_it_is["priced"], minus["priced"])
    # Another size, or another operation, and they are two dims again.
    sizes, _ = planned(binary, b=48)
    operations, _ = planned(binary, other="exp(q)")
    assert equal["priced"] < min(sizes["priced"], operations["priced"]), (equal["priced"], sizes["priced"])
    print(f"{equal['priced']} layouts planned; {sizes['priced']} and {operations['priced']} of dims that differ")


if __name__ == "__main__":
    main()
