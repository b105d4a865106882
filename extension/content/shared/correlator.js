/**
 * Requests that wait for their answers, by id. The worker, the panel and the content scripts all
 * use this one. Content scripts cannot import, so it is a classic script that leaves a class under
 * a global name; modules get it from `worker/shared/request-correlator.js`.
 */
// A second injection finds it defined. Only an own property counts: elements may have any id.
if (!Object.hasOwn(globalThis, "TabhubCorrelator")) {
  Object.defineProperty(globalThis, "TabhubCorrelator", {
    value: class {
      /** @type {Map<string | number, PromiseWithResolvers<any> & {note: any}>} */
      #waiting = new Map();
      #lastId = 0;

      nextId() {
        return ++this.#lastId;
      }

      /**
       * @param {(id: any) => void} send
       * @param {{id?: string | number, note?: any, timeoutMs?: number, late?: () => Error}} [how]
       */
      request(send, { id = this.nextId(), note, timeoutMs, late } = {}) {
        const waiting = { ...Promise.withResolvers(), note };
        this.#waiting.set(id, waiting);
        const timer = late && setTimeout(() => this.settle(id, late()), timeoutMs);
        send(id);
        return timer ? waiting.promise.finally(() => clearTimeout(timer)) : waiting.promise;
      }

      /** @param {unknown} id */
      has(id) {
        return this.#waiting.has(/** @type {any} */ (id));
      }

      /** @param {unknown} id */
      noteOf(id) {
        return this.#waiting.get(/** @type {any} */ (id))?.note;
      }

      /**
       * @param {unknown} id
       * @param {unknown} error
       * @param {unknown} [result]
       */
      settle(id, error, result) {
        const waiting = this.#waiting.get(/** @type {any} */ (id));
        this.#waiting.delete(/** @type {any} */ (id));
        if (error) waiting?.reject(error);
        else waiting?.resolve(result);
      }

      /** @param {() => Error} makeError */
      failAll(makeError) {
        for (const id of [...this.#waiting.keys()]) this.settle(id, makeError());
      }
    },
  });
}
