/* Python on the page: `window.pa.python`. Nothing is loaded before it is asked for. Then two archives come: Pyodide, and the book's
   own modules; by fetch from a server, as scripts with base64 from the disk, where a page may fetch nothing. They go to a worker
   (book/live/worker.js), which answers one request after the other; one that does not is ended, and a new one takes its place. */
(() => {
  "use strict";

  const facts = JSON.parse(document.getElementById("pa-python")?.textContent ?? '{"missing": "This page has no Python."}');

  // Getting an archive, a compressed tar

  const arriving = {};   // from the disk: its script calls `take`

  async function fetched(file, tell) {
    const answer = await fetch(`${facts.root}${file}.bin`);
    if (!answer.ok) throw new Error(`${answer.status}`);
    const pieces = [];
    let done = 0;
    for (const reader = answer.body.getReader(); ;) {
      const { done: end, value } = await reader.read();
      if (end) return new Blob(pieces);
      pieces.push(value);
      tell(done += value.length);
    }
  }

  async function fromDisk(file, tell) {
    const script = document.createElement("script");
    const text = await new Promise((resolve, reject) => {
      arriving[file] = resolve;
      script.onerror = () => reject(new Error("the file is missing"));
      script.src = `${facts.root}${file}.js`;
      document.head.append(script);
    });
    script.remove();
    const blob = await (await fetch(`data:;base64,${text}`)).blob();
    tell(blob.size);
    return blob;
  }

  /** Return the files of an archive by name, and the whole of it. */
  async function unpack(blob) {
    const bytes = new Uint8Array(await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
    const text = (from, length) => new TextDecoder().decode(bytes.subarray(from, from + length)).replace(/\0.*$/s, "");
    const files = {};
    for (let at = 0; bytes[at];) {   // a head of 512 bytes, then the file, filled up to as many
      const size = parseInt(text(at + 124, 12), 8);
      files[text(at, 100)] = new Blob([bytes.subarray(at + 512, at + 512 + size)]);
      at += 512 * (1 + Math.ceil(size / 512));
    }
    return { files, whole: new Blob([bytes]) };
  }

  async function getParts(progress) {
    const get = location.protocol === "file:" ? fromDisk : fetched;
    const [pyodide, own] = await Promise.all(facts.archives.map(async ({ name, file, bytes }) => {
      progress({ part: name, done: 0, total: bytes });
      return unpack(await get(file, (done) => progress({ part: name, done, total: bytes })));
    }));
    const part = (name) => pyodide.files[`package/${name}`];
    return {
      worker: own.files["worker.js"], book: own.whole, loader: part("pyodide.mjs"), asm: part("pyodide.asm.mjs"),
      wasm: part("pyodide.asm.wasm"), stdlib: part("python_stdlib.zip"), lock: part("pyodide-lock.json"),
    };
  }

  // The worker, and what it is asked

  let parts = null, loading = null, worker = null, waiting = null, asked = 0;   // waiting: the promise of the request that is out
  let kept = [], stale = false, turn = Promise.resolve(), stops = 0, prepared = false;   // kept: cells that have succeeded, since the last reset

  function ask(message, limit) {
    return new Promise((resolve) => {
      const id = ++asked, clock = setTimeout(() => end("TooLong"), limit);
      waiting = (reply) => { clearTimeout(clock); resolve(reply); };
      worker.postMessage({ id, ...message });
    });
  }

  function answered(reply) {
    const left = waiting;
    waiting = null;
    left?.(reply);
  }

  async function startWorker() {
    const source = URL.createObjectURL(new Blob([parts.worker], { type: "text/javascript" }));
    worker = new Worker(source);
    URL.revokeObjectURL(source);
    worker.onmessage = ({ data }) => data.id === asked && answered(data);
    worker.onerror = (event) => answered({ broken: event.message });
    const { broken, ended } = await ask({ parts }, python.limits.prepare);
    if (broken || ended) throw new Error(broken ?? "it did not start");
    await prepare(false);
  }

  /** Let it import what most cells use, or what grades exercises: on a slow machine seconds, which are no cell's own. */
  async function prepare(exercises) {
    prepared = exercises;
    await ask({ request: JSON.stringify({ do: "prepare", exercises }) }, python.limits.prepare);
  }

  /** End what runs, for a reason, and start anew at once, so that the next request finds it ready. */
  function end(reason) {
    worker.terminate();
    answered({ ended: reason });
    stale = true;
    loading = startWorker();
    loading.catch(() => {});
  }

  const python = {
    limits: { run: 5000, check: 15000, hint: 5000, reset: 5000, prepare: 120000 },   // ms for an answer
    status: facts.missing ? "missing" : "idle",
    missing: facts.missing,

    /** Load Python, once; tells how far it is. */
    load(progress = () => {}) {
      if (facts.missing) return Promise.reject(new Error(facts.missing));
      loading ??= (async () => {
        python.status = "loading";
        try {
          parts = await getParts(progress);
          progress({ part: "start", done: 0, total: 0 });
          await startWorker();
          python.status = "ready";
        } catch (error) {
          loading = null;   // pressed again, it is tried again
          python.status = "idle";
          throw new Error(`Python could not be loaded (${error.message}). Reload the page; without a network it needs a copy of the book on the disk.`);
        }
      })();
      return loading;
    },

    run: (source, { cell = "" } = {}) => inTurn("run", { source, cell }),
    check: (id, source) => inTurn("check", { id, source }),
    hint: (id) => inTurn("hint", { id }),
    reset: () => inTurn("reset", {}),

    /** End what runs and what waits. */
    stop() {
      stops += 1;
      if (waiting && python.status === "ready") end("Stopped");
    },

    take: (file, text) => arriving[file](text),
  };

  const SAYS = {
    TooLong: (seconds) => `It had no answer after ${seconds} seconds and was stopped. Look for a loop that nothing ends.`,
    Stopped: () => "Stopped.",
    Broken: (_, why) => `Python itself gave up (${why}) and was started anew. A recursion without an end does that, or a tensor too large for the page.`,
    Missing: (_, why) => why,
  };

  /** What could not be done, in the form of what was asked for. */
  function failed(what, name, why, ms) {
    const message = SAYS[name](python.limits[what] / 1000, why);
    if (what === "run") return { parts: [], error: { name, message, line: null, text: message }, ms };
    const text = name === "Missing" ? message : `✗ ${message}`;
    const html = document.createElement("div");
    html.textContent = text;
    return { kind: name === "Missing" ? "cannot" : "bad", html: html.outerHTML, text, attempted: false, passed: false, parts: [], ms };
  }

  /** Ask when all that was asked before has its answer. */
  function inTurn(what, told) {
    const stopsThen = stops;
    const result = turn.then(async () => {
      const started = performance.now(), spent = () => Math.round(performance.now() - started);
      if (stops !== stopsThen) return failed(what, "Stopped", "", 0);
      try {
        await python.load();
      } catch (error) {
        return failed(what, "Missing", error.message, spent());
      }
      if (what === "reset") kept = [];
      while (stale && stops === stopsThen) await replay();
      if (stops !== stopsThen) return failed(what, "Stopped", "", spent());
      if (!prepared && (what === "check" || what === "hint")) await prepare(true);
      if (stops !== stopsThen) return failed(what, "Stopped", "", spent());
      const reply = await ask({ request: JSON.stringify({ do: what, ...told }) }, python.limits[what]);
      if (reply.broken) end("Broken");
      if (reply.broken || reply.ended) return failed(what, reply.ended ?? "Broken", reply.broken, spent());
      const done = { ...JSON.parse(reply.result), ms: spent() };
      if (what === "run" && !done.error) kept.push(told);
      return done;
    });
    turn = result.catch(() => {});
    return result;
  }

  /** Run what had succeeded once more, in silence: the worker is a new one. What now does not end is left out. */
  async function replay() {
    await loading;
    stale = false;
    for (const told of kept) {
      const reply = await ask({ request: JSON.stringify({ do: "run", ...told }) }, python.limits.run);
      if (reply.broken) end("Broken");
      if (reply.broken || reply.ended) {
        kept = kept.filter((one) => one !== told);
        return;
      }
    }
  }

  window.pa = Object.assign(window.pa ?? {}, { python });
})();
