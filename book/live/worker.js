/* Python in a thread of its own: Pyodide, our archive, and host.py, which answers. It fetches nothing: what it needs is sent to it,
   so it is the same from a server and from the disk. `python.js` starts it, from a blob. */
"use strict";

let answer;   // what host.py does with a request: text to text

async function start({ loader, asm, wasm, stdlib, lock, book }) {
  const address = (blob, type) => URL.createObjectURL(new Blob([blob], { type }));
  self.importScripts = undefined;   // Pyodide refuses a worker that has it, and a module cannot be started from a blob on a page from the disk
  const fetched = self.fetch.bind(self);
  const own = address(wasm, "application/wasm");
  self.fetch = (what, how) => (String(what).endsWith("pyodide.asm.wasm") ? fetched(own)
    : String(what).startsWith("blob:") ? fetched(what, how) : Promise.reject(new TypeError("Python on the page asks no other host.")));
  const { loadPyodide } = await import(address(loader, "text/javascript"));
  const { default: createPyodideModule } = await import(address(asm, "text/javascript"));
  const python = await loadPyodide({
    indexURL: "https://none.invalid/",   // nothing is asked there
    createPyodideModule,
    stdLibURL: address(stdlib, "application/zip"),
    lockFileContents: await lock.text(),
    stdout: () => {}, stderr: () => {},   // host.py takes what a cell prints
  });
  python.unpackArchive(await book.arrayBuffer(), "tar", { extractDir: "/book" });
  answer = python.runPython("import sys; sys.path[:0] = ['/book']; sys.path += ['/book/absent']; import host; host.answer");
}

onmessage = async ({ data: { id, parts, request } }) => {
  try {
    if (parts) await start(parts);
    postMessage({ id, result: parts ? "" : answer(request) });
  } catch (error) {   // Python itself is broken: too deep a recursion, no memory
    postMessage({ id, broken: `${error.name}: ${error.message}`.split("\n")[0] });
  }
};
