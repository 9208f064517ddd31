#!/usr/bin/python3
"""decode against NumPy: greedy texts, beam search (with a past that is other in each beam, and among
all texts there are), what top-p keeps and how often it is drawn; a Transformer with its keys and
values kept writes what it writes without; all of it in the same bits under every layout, with no more
products for a late token than for an early one, and with no logits sent."""

import itertools
import json
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import library

MTF = sys.argv[1]
BATCH, LENGTH, VOCAB, STATES, BEAM, STOP = 2, 7, 4, 5, 3, 0
LAYOUTS = ["none", "batches", "vocabulary", "both", "many"]

PROGRAM = """\
import decode
dim batch = 2, length = 7, vocab = 4, state = 5, beam = 3, wide = 300, p_of = 3, drawn = 4000
mesh grid = [r: 2, c: 2]
mesh line = [s: 4]
layout none on grid { }
layout batches on grid { batch, drawn -> r }
layout vocabulary on grid { vocab -> (r, c) }
layout both on grid { batch, drawn -> r, vocab -> c }
layout many on line { wide, drawn -> s }
let table = load("table.npy", [state, vocab])
let ids = load("ids.npy", [batch, length])
let given = load("given.npy", [batch])
fn next(token, at, past) {
  let now = (3 * past[0] + token) % size(state)
  return gather(table, now, over = state), [now]
}
fn greedy(ids: i32[batch, length], given: i32[batch]) {
  return decode.greedy(next, ids, given, [zeros([batch], i32)], length, vocab, stop = 0)
}
fn best(ids: i32[batch, length], given: i32[batch]) {
  return decode.beam_search(next, ids, given, [zeros([batch], i32)], length, vocab, beam, stop = 0)
}
fn all_of(ids: i32[batch, length], given: i32[batch]) {
  return decode.beam_search(next, ids, given, [zeros([batch], i32)], length, vocab, wide, stop = 0,
                            alpha = 0.9)
}
write("greedy.npy", greedy(ids, given))
let texts, scores = best(ids, given)
write("texts.npy", texts)
write("scores.npy", scores)
let all_texts, all_scores = all_of(ids, given)
write("all_texts.npy", all_texts)
write("all_scores.npy", all_scores)
let logits = load("logits.npy", [p_of, vocab])
write("nucleus.npy", stack([decode.nucleus(logits, vocab, 0.3), decode.nucleus(logits, vocab, 0.8),
                            decode.nucleus(logits, vocab, 0.99)], part))
let same = broadcast(table[state: 0] -> [drawn, vocab])
write("top_two.npy", decode.draw(same, vocab, temperature = 0.7, k = 2))
write("top_p.npy", decode.draw(same, vocab, p = 0.6))
write("cold.npy", decode.draw(same, vocab, temperature = 0))
write("narrow.npy", decode.draw(same, vocab, p = 0.0))
write("many.npy", decode.draw(same, vocab, k = 50))
"""

TRANSFORMER = """\
import decode
import transformer
option capacity = 12
option words = 16
dim batch = 2, length = capacity, vocab = words, d_model = 8, d_ff = 16, heads = 2, head = 4, beam = 2
mesh grid = [r: 2, c: 2]
layout none on grid { }
layout batches on grid { batch -> r }
layout vocabulary on grid { vocab, d_ff, heads -> c }
layout both on grid { batch -> r; vocab, d_ff, heads -> c }
layout many on grid { memory -> (r, c) }
model net(ids: i32[..], at: i32[] = 0, past: list = []) {
  param table : f32[vocab, d_model] = normal
  let h = gather(table, ids, over = vocab)
  fn layer(x, past = []) {
    return transformer.layer(x, length, d_model, d_ff, heads, head, causal = true, rotate = true,
                             post = POST, past = past, at = at)
  }
  if len(past) == 0 {
    return sum((transformer.stack_of(h, layer, 2) as "layers") * table, over = d_model)
  }
  let y, kept = transformer.stack_with_past(h, past, layer, 2) as "layers"
  return sum(y * table, over = d_model), kept
}
fn with_past(token, at, past) { return net(token, at, past) }
fn without(token, at, past) {
  let text = dynamic_update(past[0], token, at, over = length)
  return gather(net(text), at, over = length), [text]
}
let empty = transformer.empty_past(2, [batch], capacity, heads, head)
fn greedy(ids: i32[batch, length], given: i32[]) {
  return decode.greedy(with_past, ids, given, empty, length, vocab)
}
fn slow_greedy(ids: i32[batch, length], given: i32[]) {
  return decode.greedy(without, ids, given, [zeros([batch, length], i32)], length, vocab)
}
fn best(ids: i32[batch, length], given: i32[]) {
  return decode.beam_search(with_past, ids, given, empty, length, vocab, beam, stop = 3)
}
fn slow_best(ids: i32[batch, length], given: i32[]) {
  return decode.beam_search(without, ids, given, [zeros([batch, length], i32)], length, vocab, beam,
                            stop = 3)
}
fn read(tokens, past) {
  let y, kept = net(tokens, 0, past)
  return kept
}
fn read_greedy(ids: i32[batch, length], given: i32[]) {
  return decode.greedy(with_past, ids, given, empty, length, vocab, read = read, known = 4)
}
fn read_best(ids: i32[batch, length], given: i32[]) {
  return decode.beam_search(with_past, ids, given, empty, length, vocab, beam, stop = 3, read = read,
                            known = 3)
}
let ids = const([batch, length], NUMBERS, dtype = i32)
write("read_greedy.npy", read_greedy(ids, 5))
write("each_greedy.npy", greedy(ids, 5))
let read_texts, read_scores = read_best(ids, 5)
let each_texts, each_scores = best(ids, 5)
write("read_texts.npy", read_texts)
write("read_scores.npy", read_scores)
write("each_texts.npy", each_texts)
write("each_scores.npy", each_scores)
write("greedy.npy", greedy(ids, 2))
write("slow_greedy.npy", slow_greedy(ids, 2))
let texts, scores = best(ids, 2)
let slow_texts, slow_scores = slow_best(ids, 2)
write("texts.npy", texts)
write("scores.npy", scores)
write("slow_texts.npy", slow_texts)
write("slow_scores.npy", slow_scores)
"""


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def logits_after(table, text):
    state = 0
    for token in text:
        state = (3 * state + token) % STATES
    return table[state]


def greedy(table, ids, given):
    text = list(ids[:given])
    while len(text) < LENGTH:
        ended = STOP in text[given:]
        text.append(STOP if ended else int(np.argmax(logits_after(table, text))))
    return text


def penalty(count, alpha):
    return ((5 + count) / 6) ** alpha


def filled(text):
    return list(text) + [STOP] * (LENGTH - len(text))


def beam_search(table, ids, given, beam, alpha):
    """Texts and scores, the best first: Wu et al. (2016), with as many candidates as twice the beam."""
    alive, found = [(0.0, list(ids[:given]))], []
    for at in range(given, LENGTH):
        candidates = [(score + float(step), [*text, token]) for score, text in alive
                      for token, step in enumerate(log_softmax(logits_after(table, text)))]
        candidates = sorted(candidates, key=lambda one: -one[0])[:2 * beam]
        found += [(score / penalty(at + 1 - given, alpha), filled(text))
                  for score, text in candidates if text[-1] == STOP]
        found = sorted(found, key=lambda one: -one[0])[:beam]
        alive = [one for one in candidates if one[1][-1] != STOP][:beam]
        bound = alive[0][0] / penalty(LENGTH - given, alpha)
        if len(found) == beam and bound <= found[-1][0]:
            break
    going = [(score / penalty(LENGTH - given, alpha), text) for score, text in alive]
    return (found + going)[:beam]


def all_texts(table, ids, given, alpha):
    """Of all texts that end the one with the best score."""
    best = (-np.inf, None)
    for count in range(LENGTH - given):
        for middle in itertools.product(range(1, VOCAB), repeat=count):
            text, score = list(ids[:given]), 0.0
            for token in (*middle, STOP):
                score += log_softmax(logits_after(table, text))[token]
                text.append(token)
            best = max(best, (score / penalty(count + 1, alpha), filled(text)))
    return best


def nucleus(logits, p):
    """The fewest that have so much probability, likeliest first."""
    shares = np.exp(log_softmax(logits.astype(np.float64)))
    order = np.argsort(-shares)
    count = int(np.searchsorted(np.cumsum(shares[order]), p)) + 1
    return set(order[:count])


def check_tables(seed):
    random = np.random.default_rng(seed)
    given = {"table": 2 * random.normal(size=(STATES, VOCAB)).astype(np.float32),
             "ids": random.integers(1, VOCAB, (BATCH, LENGTH)).astype(np.int32),
             "given": np.array([1, 3], np.int32),
             "logits": random.normal(size=(3, VOCAB)).astype(np.float32)}
    found = library.run(MTF, PROGRAM, given, LAYOUTS)
    table = given["table"].astype(np.float64)
    for row in range(BATCH):
        ids, count = given["ids"][row], given["given"][row]
        if list(found["greedy"][row]) != greedy(table, ids, count):
            sys.exit(f"greedy {seed} {row}: {found['greedy'][row]} is not {greedy(table, ids, count)}")
        wanted = beam_search(table, ids, count, BEAM, 0.6)
        texts, scores = found["texts"][row], found["scores"][row]
        if len(wanted) != BEAM or any(list(text) != one[1] or abs(score - one[0]) > 1e-4
               for text, score, one in zip(texts, scores, wanted)):
            sys.exit(f"beams {seed} {row}: {texts} {scores} are not {wanted}")
        score, text = all_texts(table, ids, count, 0.9)
        if list(found["all_texts"][row][0]) != text or abs(found["all_scores"][row][0] - score) > 1e-4:
            sys.exit(f"all {seed} {row}: {found['all_texts'][row][0]} is not {text}, {score}")
    for part, p in enumerate((0.3, 0.8, 0.99)):
        for row in range(3):
            kept = set(np.flatnonzero(found["nucleus"][part][row] > -1e8))
            if kept != nucleus(given["logits"][row], p):
                sys.exit(f"top-p {p} of {given['logits'][row]} keeps {kept}")
    check_draws(table[0], found)


def check_draws(logits, found):
    """What is drawn, and how often: within five deviations."""
    for name in ("cold", "narrow"):
        if set(found[name]) != {int(np.argmax(logits))}:
            sys.exit(f"{name}: {set(found[name])} are drawn")
    for name, kept, wanted in (("top_two", np.argsort(-logits)[:2], logits / 0.7),
                               ("top_p", sorted(nucleus(logits, 0.6)), logits),
                               ("many", np.arange(VOCAB), logits)):
        shares = np.exp(wanted[kept]) / np.exp(wanted[kept]).sum()
        drawn = np.array([(found[name] == token).mean() for token in kept])
        if abs(drawn.sum() - 1) > 1e-9 or (abs(drawn - shares) > 5 * (0.25 / 4000) ** 0.5).any():
            sys.exit(f"{name}: {kept} are drawn {drawn} and not {shares}")


def program(post):
    random = np.random.default_rng(1)
    numbers = random.integers(0, 16, (BATCH, 12)).tolist()
    return TRANSFORMER.replace("NUMBERS", str(numbers)).replace("POST", post)


def check_transformer(post):
    found = library.run(MTF, program(post), {}, LAYOUTS)
    for name in ("greedy", "texts"):
        if (found[name] != found["slow_" + name]).any():
            sys.exit(f"{name} with a past {found[name]}, without {found['slow_' + name]}")
    for name in ("greedy", "texts", "scores"):
        if (found["read_" + name] != found["each_" + name]).any():
            sys.exit(f"{name} of a prompt in one pass {found['read_' + name]}, token by token {found['each_' + name]}")
    if not np.allclose(found["scores"], found["slow_scores"], rtol=1e-5):
        sys.exit(f"{found['scores']} are not {found['slow_scores']}")


def plan(entry, layout, capacity, words=16):
    text = program("false").replace("const([batch, length], ", "const([batch, twelve: 12], ").replace(
        "dtype = i32)", "dtype = i32)[twelve: 0..2 as pair]\n"
        "let begun = broadcast(ids[pair: 0] -> [batch, length])").replace("(ids, ", "(begun, ")
    return json.loads(library.command(MTF, ["plan", "-", entry, "--layout", layout, "--json", "--set",
                                            f"capacity={capacity},words={words}"], text))


def check_plans():
    """A trip of the loop has as many products at any length, of which attention alone grows with it."""
    for entry, rows in (("greedy", BATCH), ("best", 2 * BATCH)):
        products = {}
        for capacity in (12, 24, 48):
            steps = [step for step in plan(entry, "none", capacity)["steps"] if "einsum" in step["op"]]
            products[capacity] = len(steps), sum(step["flops"] for step in steps)
        counts = {count for count, _ in products.values()}
        # Of each of two layers: queries by keys and weights by values, 8 elements a position.
        grown = 2 * 2 * 2 * 8 * rows
        if len(counts) != 1 or any(products[2 * n][1] - products[n][1] != n * grown for n in (12, 24)):
            sys.exit(f"{entry}: products and flops of a trip by capacity {products}")
    if not 5 * products[48][1] < sum(step["flops"] for step in plan("slow_best", "none", 48)["steps"]):
        sys.exit("without a past a trip costs no more")
    for entry in ("greedy", "best"):
        for step in plan(entry, "both", 12, words=128)["steps"]:
            # A row of a token has 8 elements; of 128 logits 4 are candidates, of each of 2 beams.
            if step["kind"] != "kernel" and step["elements"] > 2 * 8:
                sys.exit(f"{entry} sends {step}")


for number in range(3):
    check_tables(number)
for where in ("false", "true"):
    check_transformer(where)
check_plans()
