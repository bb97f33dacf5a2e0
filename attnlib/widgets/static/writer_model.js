// The model of the Writer: text to tokens, tokens to logits and weights, position by position, in plain JavaScript.

/** Half precision, widened: a table of all 65,536 numbers there are. */
function allHalves() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24 : exponent === 31 ? NaN : (1 + fraction / 1024) * 2 ** (exponent - 15);
    table[bits] = bits >> 15 ? -size : size;
  }
  return table;
}

/**
 * The arrays of the model by name, in float32.
 * header  { model: sizes, arrays: [[name, shape], ...] }
 * data    the numbers of all arrays, one after the other, as bytes of little-endian float16
 */
function unpacked({ arrays }, data) {
  const table = allHalves(), halves = new DataView(data.buffer, data.byteOffset, data.byteLength), found = {};
  let at = 0;
  for (const [name, shape] of arrays) {
    const numbers = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < numbers.length; i++, at += 2) numbers[i] = table[halves.getUint16(at, true)];
    found[name] = numbers;
  }
  return found;
}

// Tokens

const PIECES = / ?[A-Za-z]+| ?[0-9]+| ?[^A-Za-z0-9 \n\f]+|\n+ *|\f| +/g;

/** Byte pairs: `encode(text)` gives tokens, `bytes[token]` what a token stands for. Token 256 + i joins merges[i]. */
function bytePairs(merges) {
  const bytes = range(256).map((byte) => [byte]);
  for (const [left, right] of merges) bytes.push([...bytes[left], ...bytes[right]]);
  const pair = (left, right) => left * bytes.length + right;
  const joined = new Map(merges.map(([left, right], i) => [pair(left, right), 256 + i]));
  const known = new Map();
  function merge(piece) {
    let tokens = [...new TextEncoder().encode(piece)];
    for (;;) {
      const lowest = Math.min(...tokens.slice(1).map((right, i) => joined.get(pair(tokens[i], right)) ?? Infinity));
      if (lowest === Infinity) return tokens;
      const next = [];
      for (let i = 0; i < tokens.length; i++) {
        if (i + 1 < tokens.length && joined.get(pair(tokens[i], tokens[i + 1])) === lowest) { next.push(lowest); i++; }
        else next.push(tokens[i]);
      }
      tokens = next;
    }
  }
  function encode(text) {
    return (text.match(PIECES) ?? []).flatMap((piece) => {
      if (!known.has(piece)) known.set(piece, merge(piece));
      return known.get(piece);
    });
  }
  return { encode, bytes };
}

// The decoder

/**
 * out = W x for four positions, whose numbers stand side by side in x and in out, two rows of W at a time:
 * what is fetched for one of the eight sums serves others too, and none waits for another.
 */
function product(w, x, out) {
  const columns = x.length / 4;
  for (let i = 0, row = 0; i < out.length; i += 8, row += 2 * columns) {
    let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    for (let at = row, j = 0; j < 4 * columns; at++, j += 4) {
      const a = w[at], b = w[at + columns], x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
      a0 += a * x0; a1 += a * x1; a2 += a * x2; a3 += a * x3;
      b0 += b * x0; b1 += b * x1; b2 += b * x2; b3 += b * x3;
    }
    out[i] = a0; out[i + 1] = a1; out[i + 2] = a2; out[i + 3] = a3;
    out[i + 4] = b0; out[i + 5] = b1; out[i + 6] = b2; out[i + 7] = b3;
  }
}

/** A decoder with RMSNorm, rotary positions, a gated MLP and tied embeddings, as attnlib's Decoder computes it. */
function decoder(sizes, arrays) {
  const { vocab_size: V, max_length: longest, embed_dim: C, num_heads: H, num_layers: L, hidden_dim: wide, eps, base } = sizes;
  const D = C / H, half = D / 2;
  const blocks = range(L).map((i) => {
    const own = (name) => arrays[`blocks.${i}.${name}.weight`];
    return { first: own("attention_norm"), q: own("attention.q_proj"), k: own("attention.k_proj"), v: own("attention.v_proj"), out: own("attention.out_proj"),
      second: own("network_norm"), gate: own("gate_proj"), up: own("up_proj"), down: own("down_proj") };
  });
  const embedding = arrays["token_embedding.weight"], last = arrays["norm.weight"];
  const [normed, mixed, made] = range(3).map(() => new Float64Array(4 * C)), own = new Float64Array(D);
  const [gate, up] = range(2).map(() => new Float64Array(4 * wide)), scored = new Float64Array(4 * V);

  /** The numbers of x at some positions, each at a mean square of one. */
  function norm(x, positions, weight) {
    positions.forEach((i, n) => {
      let total = 0;
      for (let j = 0; j < C; j++) total += x[i * C + j] ** 2;
      const scale = 1 / Math.sqrt(total / C + eps);
      for (let j = 0; j < C; j++) normed[4 * j + n] = x[i * C + j] * scale * weight[j];
    });
  }
  /** Turn each pair of features of the heads at position i; the halves of a head are paired. */
  function turn(heads, i) {
    for (let j = 0; j < half; j++) {
      const angle = i * base ** (-j / half), cos = Math.cos(angle), sin = Math.sin(angle);
      for (let at = i * C + j; at < (i + 1) * C; at += D) {
        const a = heads[at], b = heads[at + half];
        heads[at] = a * cos - b * sin;
        heads[at + half] = a * sin + b * cos;
      }
    }
  }

  /**
   * A text that grows. `used[layer][head]` false: that head adds nothing. Without `causal` each position also reads those after it.
   * weights[layer][head][i] and logits(i) are what position i gave.
   */
  function begin({ used, causal }) {
    const tokens = [], weights = range(L).map(() => range(H).map(() => []));
    const room = () => new Float64Array(longest * C);
    const x = room(), outputs = room(), q = room(), keys = range(L).map(room), values = range(L).map(room);
    const embed = (i) => { for (let j = 0; j < C; j++) x[i * C + j] = embedding[tokens[i] * C + j]; };
    const add = (i, n) => { for (let j = 0; j < C; j++) x[i * C + j] += made[4 * j + n]; };

    function project(l, positions) {
      norm(x, positions, blocks[l].first);
      for (const [w, to] of [[blocks[l].q, q], [blocks[l].k, keys[l]], [blocks[l].v, values[l]]]) {
        product(w, normed, made);
        positions.forEach((i, n) => { for (let j = 0; j < C; j++) to[i * C + j] = made[4 * j + n]; });
      }
      positions.forEach((i) => { turn(q, i); turn(keys[l], i); });
    }
    /** Head h of position i attends to `seen` positions: its weights. Its average of the values is in `own`. */
    function attendFrom(l, h, i, seen) {
      const row = new Float32Array(seen), k = keys[l], v = values[l], from = i * C + h * D, scale = 1 / Math.sqrt(D);
      let top = -Infinity, total = 0;
      for (let s = 0, at = h * D; s < seen; s++, at += C) {
        let even = 0, odd = 0;
        for (let j = 0; j < D; j += 2) { even += q[from + j] * k[at + j]; odd += q[from + j + 1] * k[at + j + 1]; }
        row[s] = (even + odd) * scale;
        top = Math.max(top, row[s]);
      }
      for (let s = 0; s < seen; s++) total += row[s] = Math.exp(row[s] - top);
      own.fill(0);
      for (let s = 0, at = h * D; s < seen; s++, at += C) {
        const weight = row[s] /= total;
        if (used[l][h]) for (let j = 0; j < D; j++) own[j] += weight * v[at + j];
      }
      return row;
    }
    function attend(l, positions, seen, into) {
      positions.forEach((i, n) => {
        for (let h = 0; h < H; h++) {
          into[l][h][i] = attendFrom(l, h, i, seen(i));
          for (let j = 0; j < D; j++) mixed[4 * (h * D + j) + n] = own[j];
        }
      });
      product(blocks[l].out, mixed, made);
      positions.forEach(add);
    }
    function mlp(l, positions) {
      norm(x, positions, blocks[l].second);
      product(blocks[l].gate, normed, gate);
      product(blocks[l].up, normed, up);
      for (let j = 0; j < gate.length; j++) gate[j] *= up[j] / (1 + Math.exp(-gate[j]));
      product(blocks[l].down, gate, made);
      positions.forEach(add);
    }
    /** The logits of position i, computed when they are asked for: most are never shown. */
    function logits(i) {
      norm(outputs, [i], last);
      product(embedding, normed, scored);
      return Float32Array.from({ length: V }, (_, token) => scored[4 * token]);
    }
    const inFours = (from) => range(Math.ceil((tokens.length - from) / 4)).map((g) => range(Math.min(4, tokens.length - from - 4 * g)).map((n) => from + 4 * g + n));

    /** Keys and values of what was read are kept: only the new tokens go through the layers. */
    function* readNew(from) {
      for (const four of inFours(from)) {
        four.forEach(embed);
        for (let l = 0; l < L; l++) { project(l, four); attend(l, four, (i) => i + 1, weights); mlp(l, four); }
        yield;
      }
    }
    /** A new token changes what all those before it have read: everything goes through the layers again. */
    function* readAll() {
      const fours = inFours(0), found = weights.map((layer) => layer.map(() => []));
      fours.flat().forEach(embed);
      for (let l = 0; l < L; l++) {
        for (const four of fours) project(l, four);
        for (const four of fours) { attend(l, four, () => tokens.length, found); mlp(l, four); yield; }
      }
      found.forEach((layer, l) => { weights[l] = layer; });
    }
    /** Read more tokens, in small steps: each `yield` is a place to let the page breathe, or to stop; then they are not read. */
    function* read(more) {
      if (tokens.length + more.length > longest) throw new RangeError(`there are ${longest} positions, got ${tokens.length + more.length} tokens`);
      const from = tokens.length;
      let done = false;
      tokens.push(...more);
      try {
        yield* causal ? readNew(from) : readAll();
        outputs.set(x);
        done = true;
      } finally {
        if (!done) tokens.length = from;
      }
    }
    return { tokens, weights, logits, read };
  }
  return { begin };
}

// Choosing the next token

/** The probability of each token; temperature 0 has none, and is shown as 1. */
function shares(logits, temperature) {
  let top = -Infinity, total = 0;
  for (const x of logits) top = Math.max(top, x);
  const found = Float64Array.from(logits, (x) => Math.exp((x - top) / (temperature || 1)));
  for (const x of found) total += x;
  return found.map((x) => x / total);
}

/** A number between 0 and 1 for a seed and a position in the text: the same whenever it is asked for, here and in Python. */
function chance(seed, place) {
  let t = (Math.imul(seed, 0x9e3779b1) + Math.imul(place, 0x85ebca77)) | 0;
  for (const [shift, factor] of [[16, 0x7feb352d], [15, 0x846ca68b]]) t = Math.imul(t ^ (t >>> shift), factor);
  return (((t ^ (t >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}

/** The token that comes next: the likeliest at temperature 0, else one that is drawn. */
function chosen(logits, temperature, seed, place) {
  if (temperature === 0) return logits.reduce((best, x, i) => (x > logits[best] ? i : best), 0);
  let left = chance(seed, place);
  const found = shares(logits, temperature);
  for (let i = 0; i < found.length; i++) if ((left -= found[i]) < 0) return i;
  return found.length - 1;
}
