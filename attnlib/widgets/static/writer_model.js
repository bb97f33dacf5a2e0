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

/** out = W x: W has as many rows as out has places, row after row; x begins at `from`, out at `to`. */
function product(w, x, from, columns, out, to, rows) {
  for (let i = 0, at = 0; i < rows; i++, at += columns) {
    let a = 0, b = 0, c = 0, d = 0, j = 0;     // four sums at a time: none waits for the one before
    for (; j + 3 < columns; j += 4) {
      a += w[at + j] * x[from + j];
      b += w[at + j + 1] * x[from + j + 1];
      c += w[at + j + 2] * x[from + j + 2];
      d += w[at + j + 3] * x[from + j + 3];
    }
    for (; j < columns; j++) a += w[at + j] * x[from + j];
    out[to + i] = a + b + c + d;
  }
}

/** A decoder with RMSNorm, rotary positions, a gated network and tied embeddings, as attnlib's Decoder computes it. */
function decoder(sizes, arrays) {
  const { vocab_size: V, max_length: longest, embed_dim: C, num_heads: H, num_layers: L, hidden_dim: wide, eps, base } = sizes;
  const D = C / H, half = D / 2;
  const blocks = range(L).map((i) => {
    const own = (name) => arrays[`blocks.${i}.${name}.weight`];
    return { first: own("attention_norm"), q: own("attention.q_proj"), k: own("attention.k_proj"), v: own("attention.v_proj"), out: own("attention.out_proj"),
      second: own("network_norm"), gate: own("gate_proj"), up: own("up_proj"), down: own("down_proj") };
  });
  const embedding = arrays["token_embedding.weight"], last = arrays["norm.weight"];
  const [normed, mixed, added] = range(3).map(() => new Float64Array(C));
  const [gate, up] = range(2).map(() => new Float64Array(wide));

  /** The numbers of x at position i, at a mean square of one. */
  function norm(x, i, weight) {
    let total = 0;
    for (let j = 0; j < C; j++) total += x[i * C + j] ** 2;
    const scale = 1 / Math.sqrt(total / C + eps);
    for (let j = 0; j < C; j++) normed[j] = x[i * C + j] * scale * weight[j];
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
   * weights[layer][head][i] and logits[i] are what position i gave.
   */
  function begin({ used, causal }) {
    const tokens = [], logits = [], weights = range(L).map(() => range(H).map(() => []));
    const room = () => new Float64Array(longest * C);
    const x = room(), q = room(), keys = range(L).map(room), values = range(L).map(room);
    const embed = (i) => { for (let j = 0; j < C; j++) x[i * C + j] = embedding[tokens[i] * C + j]; };
    const add = (i) => { for (let j = 0; j < C; j++) x[i * C + j] += added[j]; };

    function project(l, i) {
      norm(x, i, blocks[l].first);
      for (const [w, to] of [[blocks[l].q, q], [blocks[l].k, keys[l]], [blocks[l].v, values[l]]]) product(w, normed, 0, C, to, i * C, C);
      turn(q, i);
      turn(keys[l], i);
    }
    /** Position i looks at `seen` positions, in each head. */
    function attend(l, i, seen, into) {
      mixed.fill(0);
      for (let h = 0; h < H; h++) {
        const row = new Float32Array(seen), from = i * C + h * D;
        let top = -Infinity, total = 0;
        for (let s = 0; s < seen; s++) {
          let score = 0;
          for (let j = 0; j < D; j++) score += q[from + j] * keys[l][s * C + h * D + j];
          row[s] = score / Math.sqrt(D);
          top = Math.max(top, row[s]);
        }
        for (let s = 0; s < seen; s++) total += row[s] = Math.exp(row[s] - top);
        for (let s = 0; s < seen; s++) {
          row[s] /= total;
          if (used[l][h]) for (let j = 0; j < D; j++) mixed[h * D + j] += row[s] * values[l][s * C + h * D + j];
        }
        into[l][h][i] = row;
      }
      product(blocks[l].out, mixed, 0, C, added, 0, C);
      add(i);
    }
    function network(l, i) {
      norm(x, i, blocks[l].second);
      product(blocks[l].gate, normed, 0, C, gate, 0, wide);
      product(blocks[l].up, normed, 0, C, up, 0, wide);
      for (let j = 0; j < wide; j++) gate[j] *= up[j] / (1 + Math.exp(-gate[j]));
      product(blocks[l].down, gate, 0, wide, added, 0, C);
      add(i);
    }
    function score(i) {
      norm(x, i, last);
      logits[i] = new Float32Array(V);
      product(embedding, normed, 0, C, logits[i], 0, V);
    }

    /** Keys and values of what was read are kept: only the new tokens go through the layers. */
    function* readNew(from) {
      for (let i = from; i < tokens.length; i++) {
        embed(i);
        for (let l = 0; l < L; l++) { project(l, i); attend(l, i, i + 1, weights); network(l, i); }
        score(i);
        yield i;
      }
    }
    /** A new token changes what all those before it have read: everything goes through the layers again. */
    function* readAll() {
      const all = range(tokens.length), found = weights.map((layer) => layer.map(() => []));
      all.forEach(embed);
      for (let l = 0; l < L; l++) {
        for (const i of all) project(l, i);
        for (const i of all) { attend(l, i, tokens.length, found); network(l, i); yield i; }
      }
      all.forEach(score);
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

/** What each token has as its share; temperature 0 has no shares, and is shown as 1. */
function shares(logits, temperature) {
  let top = -Infinity, total = 0;
  for (const x of logits) top = Math.max(top, x);
  const found = Float64Array.from(logits, (x) => Math.exp((x - top) / (temperature || 1)));
  for (const x of found) total += x;
  return found.map((x) => x / total);
}

/** A number between 0 and 1 for a seed and a place in the text: the same whenever it is asked for, here and in Python. */
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
