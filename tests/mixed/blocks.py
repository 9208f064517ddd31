"""The blocks of the random programs, each a function of `h`, a tensor [batch, length, d]."""

# By what a block is about; `{…}` is drawn (`fillings`).
BLOCKS = {
    "dense": """let a = nn.dense(h, d, ff)
        let y = nn.dense(gelu(a), ff, d)
        return h + y""",
    "gated": """let n = nn.rms_norm(h, d)
        let y = nn.glu(n, d, ff)
        let z = nn.dense(y, ff, d)
        return h + z""",
    "attention": """let n = nn.layer_norm(h, d)
        let y = attention.self_attention(n, length, d, heads, head, causal = true, rotate = true)
        return h + y""",
    "multi_query": """let y = attention.self_attention(h, length, d, heads, head, kv_heads = [])
        return h + y""",
    "local": """let y = attention.self_attention(h, length, d, heads, head, causal = true, window = 2)
        return h + y""",
    "blockwise": """let y = attention.self_attention(h, length, d, heads, head, blocks = 4, causal = true)
        return h + y""",
    "alibi": """param w = normal([d, heads, head], stddev = 0.3)
        let q = einsum(h, w -> [batch, length, heads, head])
        let scores = einsum(q, rename(q, length -> memory) -> [batch, heads, length, memory])
        let far = cast(range(length), f32) - cast(range(memory), f32)
        let seen = where(far >= 0, scores - far / (1 + cast(range(heads), f32)), -1e9)
        let mixed = einsum(softmax(seen, over = memory), rename(h, length -> memory) -> [batch, heads, length, d])
        return h + mean(mixed, over = heads)""",
    "experts": """let y, extra = moe.experts(h, batch, length, d, expert, e_ff, top = {top})
        return h + y + extra""",
    "expert_choice": """let y = moe.expert_choice(h, batch, length, d, expert, e_ff)
        return h + y""",
    "strided": """param k = normal([tap: 3, d, ff], stddev = 0.2)
        param back = normal([tap: 3, ff, d], stddev = 0.2)
        let y = conv(h, k -> [batch, l2: 4, ff], window = length, taps = tap, stride = 2, padding = "same")
        return h + conv_transpose(y, back -> [batch, length, d], window = l2, taps = tap, stride = 2, padding = "same")""",
    "dilated": """param k = normal([tap: 3, d], stddev = 0.2)
        return h + conv(h, k -> [batch, length, d], window = length, taps = tap, dilation = 2, padding = "same")""",
    "pool": """let p = pool(h -> [batch, l2: 8, d], window = length, size = 3, stride = 1, padding = "same", by = "{by}")
        return h + 0.5 * rename(p, l2 -> length)""",
    "pool_of_two": """return h + mean(pool(h, window = [length, d], size = [2, 2], by = "{by}"))""",
    "reshape": """let r = reshape(h -> [batch, chunk, each: 4, d])
        let s = sum(r * cast(range(chunk), f32), over = chunk)
        return h + 0.1 * reshape(transpose(r -> [batch, each, chunk, d]) -> [batch, length, d]) + mean(s, over = each)""",
    "butterfly": """var r = reshape(h -> [batch, length, b0: 2, b1: 2, b2: 2, b3: 2])
        for b in [b0, b1, b2, b3] {
          let other = shift(r, over = b, by = 1, wrap = true)
          r = 0.7 * where(range(b) == 0, r + other, other - r)
        }
        return h + 0.1 * reshape(r -> [batch, length, d])""",
    "scan": """fn cell(c, x) {
          param w = normal([d, to: 16], stddev = 0.3)
          let next = tanh(rename(einsum(c, w -> [batch, to]), to -> d) + x)
          return next, next
        }
        let last, ys = scan(cell, zeros([batch, d]), h, over = length)
        return h + transpose(ys -> [batch, length, d]) + last""",
    "gru": """let y, last = recurrent.gru(h, length, d, ff)
        let z = nn.dense(y, ff, d)
        return h + z""",
    "recurrence": """return h + 0.1 * recurrence(sigmoid(h), h, over = length{reverse})""",
    "cumsum": """return h + 0.1 * cumsum(h, over = {dim}{reverse})""",
    "cummax": """return h + 0.1 * cummax(h, over = {dim})""",
    "each": """fn one(x) {
          let y = nn.dense(x, d, ff)
          return tanh(mean(y, over = ff))
        }
        let all = each(one, h * (1 + cast(range(member), f32)), over = member)
        return h + mean(all, over = member)""",
    "pipeline": """fn layer(x) {
          param w = normal([d, to: 16], stddev = 0.3)
          return rename(tanh(sum(x * w, over = d)), to -> d)
        }
        let y = pipeline.pipeline(layer, h, {micro}, stage{rounds})
        return h + transpose(y -> [batch, length, d])""",
    "sort": """let sorted, order = sort(h, over = {dim})
        return h + 0.1 * sorted""",
    "top_k": """let values, places = top_k(h -> [batch, length, best], over = d)
        return h + mean(values, over = best) + 0.01 * mean(cast(places, f32), over = best)""",
    "gather": """param table = normal([vocab, d], stddev = 0.3)
        return h + gather(table, argmax(h, over = d), over = vocab)""",
    "scatter": """let ids = argmax(h, over = d)
        return h + 0.1 * gather(scatter_add(h, ids -> [vocab, d], over = vocab), ids, over = vocab)""",
    "window": """let at = argmax(mean(h -> [length]), over = length)
        let part = dynamic_slice(h, at -> [batch, chunk, d], over = length)
        return dynamic_update(h, 2 * part, at // 2, over = length)""",
    "while": """var v = stop_gradient(h)
        var n = 0
        while mean(square(v)) > 0.2 and n < 5 {
          v = 0.5 * v + 0.01 * shift(v, over = {dim}, by = 1)
          n = n + 1
        }
        return h + 0.1 * v""",
    "bounded": """var v = h
        for i in 0..3 while mean(square(v)) > 0.5 { v = 0.6 * v }
        return h + v""",
    "concat": """let parts = split(h, over = length, parts = 2)
        return concat([parts[1], parts[0] * 2], over = length) + h""",
    "slices": """return h + 0.1 * mean(h[{dim}: 1..5 as part], over = part) + h[{dim}: 3]""",
    "pad": """let p = pad(h, {dim}, 2, 24 -> padded)
        return h + 0.1 * p[padded: 1..1 + size({dim}) as {dim}]""",
    "reverse": """return h + 0.2 * reverse(h, over = {dim})""",
    "dropout": """return dropout(h, rate = 0.1)""",
    "one_hot": """param table = normal([vocab, d], stddev = 0.3)
        return h + einsum(one_hot(argmax(h, over = d), vocab), table -> [batch, length, d])""",
    "batch_norm": """return nn.batch_norm(h, d, [batch, length])""",
    "group_norm": """return nn.group_norm(h, d, [length], 4)""",
    "straight_through": """fn rounded(x) {
          gradient dy { return 2 * dy }
          return round(x)
        }
        return h + 0.1 * rounded(3 * h) + stop_gradient(round(h) - h)""",
    "cholesky": """let g = 0.05 * einsum(h, rename(h, d -> d2) -> [batch, d, d2]) + diag(ones([d]), rows = d, cols = d2)
        return h + 0.1 * mean(cholesky(g, rows = d, cols = d2), over = d2)""",
    "state": """state seen : f32[d] = zeros
        let m = mean(h -> [d])
        seen <- 0.9 * seen + 0.1 * m
        return h - seen + m""",
    "four_operands": """param u = normal([d, a: 4, b: 4], stddev = 0.3)
        param v = normal([a: 4, b: 4, inner], stddev = 0.3)
        param w = normal([inner, d], stddev = 0.3)
        return h + einsum(h, u, v, w -> [batch, length, d])""",
    "logsumexp": """return h - logsumexp(h, over = {dim})""",
    "embedding": """let e = nn.embedding(integers([batch, length], low = 0, high = 16), vocab, d)
        return h + e""",
    "product": """return 0.9 * h + 0.01 * prod(tanh(h), over = {dim})""",
    "variance": """let m = mean(h, over = {dim})
        return (h - m) * rsqrt(mean(square(h - m), over = {dim}) + 1e-3)""",
    "narrow": """param w = normal([d, ff], stddev = 0.2)
        return h + 0.1 * mean(cast(einsum(cast(h, bf16), cast(w, bf16) -> [batch, length, ff]), f32), over = ff)""",
    "integers": """let q = cast(round(8 * h), i32)
        let bits = bitwise_xor(left_shift(q, 1), bitwise_and(q, 7)) % 5
        let even = q % 2 == 0 and not (q > 3)
        return h + 0.1 * cast(bits // 2, f32) + where(even, 0.1, 0)""",
    "wide_integers": """let q = cast(round(8 * h), i64)
        let total = cumsum(q * q, over = {dim}{reverse}) + sum(q, over = {dim})
        return h + 0.001 * cast(total % 97, f32)""",
    "small_integers": """let q = cast(16 * h, i8)
        let s = sum(q * q, over = {dim}, dtype = i32) + cast(sum(q, over = {dim}), i32)
        return h + 0.01 * cast(s % 17, f32)""",
    "truths": """let up = h > mean(h, over = {dim})
        let some = any(up, over = {dim})
        let every = all(up or not some, over = d)
        return where(up and some, h, 0.5 * h) + cast(every, f32)""",
    "grouped": """param k = normal([tap: 3, part: 4, outs: 8], stddev = 0.2)
        let y = conv(h, k -> [batch, length, outs], window = length, taps = tap, padding = "same", groups = 4)
        return h + mean(y, over = outs)""",
    "image": """param k = normal([t1: 3, t2: 3, c4: 4, k8: 8], stddev = 0.2)
        let x = transpose(reshape(h -> [batch, length, col: 4, c4: 4]) -> [batch, col, length, c4])
        let y = conv(x, k -> [batch, col, length, k8], window = [col, length], taps = [t1, t2], padding = "same")
        return h + mean(tanh(y), over = [col, k8])""",
    "narrow_image": """param k = normal([t1: 3, t2: 3, c4: 4, k8: 8], stddev = 0.2)
        let x = cast(reshape(h -> [batch, length, col: 4, c4: 4]), bf16)
        let y = conv(x, cast(k, bf16) -> [batch, l6: 6, col, k8], window = [length, col], taps = [t1, t2],
                     padding = [[0, 0], [1, 1]])
        return h + mean(cast(tanh(y), f32), over = [l6, col, k8])""",
    "plane": """param k = normal([t1: 3, t2: 3], stddev = 0.2)
        return h + conv(h, k -> [batch, length, d], window = [length, d], taps = [t1, t2], padding = "same")""",
    "two_indices": """param table = normal([vocab, inner], stddev = 0.3)
        let i = argmax(h, over = d)
        let at = [i % size(vocab), (i + cast(range(length), i32)) % 4]
        let y = gather(table, at, over = [vocab, inner], out_of_range = "{range}")
        return h + y""",
    "scatter_two": """let i = argmax(h, over = d) // 3
        let s = scatter_add(mean(h, over = d), [i, cast(range(length), i32)] -> [inner, memory], over = [inner, memory])
        return h + 0.1 * mean(s)""",
    "scatter_integers": """let i = argmax(h, over = d)
        let s = scatter_add(cast(8 * h, i32), i -> [vocab, d], over = vocab)
        return h + 0.01 * cast(gather(s, i, over = vocab), f32)""",
    "table_rows": """let i = rename(argmax(h, over = d), length -> memory) % 8
        return h + 0.1 * rename(gather(h, i, over = length), memory -> length)""",
    "counts": """let c = bincount(argmax(h, over = d), vocab)
        return h + 0.1 * cast(gather(c, argmin(h, over = d), over = vocab), f32)""",
    "unequal": """let parts = split(h, over = {dim}, parts = {cuts})
        let mixed = concat([2 * parts[2], parts[0], tanh(parts[1])], over = {dim})
        return h + 0.1 * mixed""",
    "stacked": """let s = stack([h, square(h), tanh(h)], tap3)
        let parts = unstack(0.3 * s * (1 + cast(range(tap3), f32)), over = tap3)
        return parts[0] + parts[2] - 0.1 * parts[1]""",
    "repeated": """let r = repeat(h, d -> wide, times = 2)
        let t = tile(h, d -> wide, times = 2)
        return h + 0.1 * mean(reshape(r * t -> [batch, length, d, two: 2]), over = two)""",
    "windows": """let w = windows(h, over = {dim}, to = tap3, pad = 1)
        param k = normal([tap3: 3], stddev = 0.3)
        return h + 0.3 * einsum(w, k -> [batch, length, d])""",
    "solve": """let a = 0.05 * einsum(h, rename(h, d -> d2) -> [batch, d, d2]) + diag(ones([d]), rows = d, cols = d2)
        let x = solve(a, mean(h, over = length), rows = d, cols = d2)
        return h + 0.1 * rename(x, d2 -> d)""",
    "inverse": """let s = einsum(h, rename(h, length -> memory) -> [batch, length, memory])
        let a = 0.05 * s + diag(ones([length]), rows = length, cols = memory)
        let b = inverse(a, rows = length, cols = memory)
        return h + 0.1 * mean(b) + 0.1 * logdet(a, rows = length, cols = memory)""",
    "qr": """let q = qr(h, rows = d, cols = length, to = memory)
        return h + 0.1 * rename(q, memory -> length)""",
    "triangle": """let s = einsum(h, rename(h, length -> memory) -> [batch, length, memory])
        let seen = tril(s, rows = length, cols = memory)
        return h + 0.01 * einsum(seen, rename(h, length -> memory) -> [batch, length, d])""",
    "permuted": """let order = rename(permutation(length, seed = 5), length -> memory)
        return h + 0.3 * rename(gather(h, order, over = length), memory -> length)""",
    "lottery": """let c = categorical(h, over = d, temperature = 0.5)
        return h + 0.1 * one_hot(c, d) + 0.1 * cast(bernoulli([batch, d], p = 0.3), f32)""",
    "masked": """let keep = h > 0
        return h - nn.masked_mean(h, keep) + nn.masked_mean(h, range(length) < 5)""",
    "huber": """return h + mean(nn.huber(h, 0 * h + 0.3, delta = 0.5), over = {dim})""",
    "cross_entropy": """let labels = argmax(h, over = d)
        return h + 0.1 * nn.softmax_cross_entropy(0.5 * h, labels, over = d, z_loss = 0.01, label_smoothing = 0.1)""",
    "picked": """fn one(x) {
          param w = normal([d, to: 16], stddev = 0.3)
          return tanh(rename(einsum(x, w -> shape(x) - [d] + [to: 16]), to -> d))
        }
        let several = h * (1 + cast(range(member), f32))
        let all = each(one, several, over = member, pick = expert, at = range(member))
        return h + mean(all, over = member)""",
    "scan_lists": """fn cell(c, x) {
          let m = maximum(c[0], x[0])
          let s = 0.9 * c[1] + x[1]
          return [m, s], [m - s, s]
        }
        let last, ys = scan(cell, [zeros([batch, d]), ones([batch, d])], [h, square(h)], over = length)
        return h + 0.1 * transpose(ys[0] -> [batch, length, d]) + 0.1 * last[1]""",
    "lstm": """let ys, last = recurrent.lstm(h, length, d, ff)
        let z = nn.dense(ys, ff, d)
        return h + z""",
    "scans": """let sums = cumlogsumexp(h, over = {dim}{reverse}) + cummin(h, over = {dim}{reverse})
        return h + 0.1 * sums + 0.1 * cumprod(tanh(h), over = {dim}, exclusive = true)""",
    "quantile": """return h - nth_largest(h, over = {dim}, n = 3)""",
    "descending": """let order = argsort(h, over = {dim}, descending = true)
        return h + 0.01 * cast(order, f32) + 0.1 * sort(h, over = {dim}, descending = true)""",
    "rolled": """let mirrored = pad(h[{dim}: 1..6 as five], five, 2, 8 -> eight, mode = "reflect")
        return h + 0.1 * roll(h, {dim}, -3) + 0.1 * shift(h, over = {dim}, by = 2) + 0.2 * mirrored[eight: 3]""",
    "inner_gradient": """let g = grad(sum(square(tanh(h)) * h), h)
        return h + 0.1 * g""",
    "penalty": """param w = normal([d, ff], stddev = 0.2)
        let y = tanh(einsum(h, w -> [batch, length, ff]))
        let g = grad(sum(square(y)), w)
        return h + 0.1 * mean(y, over = ff) + 0.01 * sum(square(g))""",
    "two_recomputed": """var y = h
        recompute {
          let a = nn.dense(y, d, ff)
          recompute { y = 0.5 * nn.dense(gelu(a), ff, d) as "back" }
        }
        return h + y""",
    "while_lists": """var parts = [stop_gradient(h), zeros([batch, d])]
        var n = 0
        while n < 4 and max(abs(parts[1])) < 3.0 {
          let next = 0.5 * parts[0] + 0.1 * tanh(parts[1])
          parts = [next, parts[1] + sum(next, over = length)]
          n = n + 1
        }
        return h + 0.1 * parts[0] + 0.01 * parts[1]""",
    "while_state": """state seen : f32[d] = zeros
        var n = 0
        while n < 3 {
          seen <- 0.5 * seen + mean(stop_gradient(h) -> [d])
          n = n + 1
        }
        return h + 0.1 * seen""",
    "position_each": """let at = argmax(h, over = d) % 6
        let first = at[length: 0]
        let part = dynamic_slice(h, first -> [batch, chunk, d], over = length)
        return dynamic_update(h, 0.5 * part, (first + 1) % 6, over = length)""",
    "sum_of_products": """param u = normal([d, ff], stddev = 0.2)
        param v = normal([d, ff], stddev = 0.2)
        let y = einsum(h, u -> [batch, length, ff]) + einsum(tanh(h), v -> [batch, length, ff])
        return h + 0.1 * einsum(y, u -> [batch, length, d]) + 0.1 * einsum(y, v -> [batch, length, d])""",
    "tied": """param u = normal([vocab, d], stddev = 0.3)
        let e = gather(u, argmax(h, over = d), over = vocab)
        let logits = einsum(h + e, u -> [batch, length, vocab])
        return h + einsum(softmax(logits, over = vocab), u -> [batch, length, d])""",
    "layer": """let y = transformer.layer(h, length, d, ff, heads, head, causal = true, norm = "rms", feed = "swiglu")
        return y""",
    "switch": """let y, loss = transformer.switch_layer(h, batch, length, d, e_ff, expert, heads, head)
        return y + loss""",
    "cross": """let y = rename(0.5 * h, length -> source)
        let z = attention.cross_attention(h, y, source, d, heads, head)
        return h + z""",
    "norms": """let z = h / (0.1 + norm(h, over = {dim}))
        return z + h""",
    "doubles": """let x = cast(h, f64)
        let y = cumsum(x * x, over = {dim}) + log1p(abs(x)) + erf(x) + atan2(x, 1 + x * x)
        return h + 0.1 * cast(y - mean(y, over = length), f32)""",
    "halves": """let x = cast(h, f16)
        let s = sum(x * x, over = {dim}) + max(x, over = {dim})
        return h + 0.1 * cast(softmax(x, over = {dim}) + s, f32)""",
    "select_range": """let some = h[length: 2..7 as five]
        let y = einsum(some, rename(some, five -> again) -> [batch, five, again])
        return h + 0.01 * sum(y) + 0.1 * mean(max(y, over = five), over = again)""",
    "flat": """let f = reshape(h -> [token: batch * length, d])
        param w = normal([d, ff], stddev = 0.2)
        let y = einsum(f, w -> [token, ff])
        let z = reshape(y -> [batch, length, ff])
        return h + mean(z, over = ff) + 0.1 * max(reshape(h -> [batch, rest: length * d]), over = rest)""",
    "eigen": """let g = einsum(h, rename(h, length -> memory) -> [batch, length, memory])
        let w = eigh(g, rows = length, cols = memory, to = k8)
        return h + 0.1 * rename(w, k8 -> length)""",
    "svd": """let s = svd(h, rows = length, cols = d, to = k8)
        return h + 0.1 * rename(s, k8 -> length)""",
    "outer_sums": """let r = mean(h -> [batch, d])
        let c = mean(h -> [length, d])
        return h - r - c + mean(h -> [d])""",
    "upsampled": """param k = normal([tap: 4, ff, d], stddev = 0.2)
        let up = conv_transpose(h, k -> [batch, l16: 16, ff], window = length, taps = tap, padding = 1, stride = 2)
        let down = pool(up -> [batch, l2: 8, ff], window = l16, size = 2, by = "{by}")
        return h + 0.1 * mean(down, over = [l2, ff])""",
}
