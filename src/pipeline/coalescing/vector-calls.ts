/** Vectors in flight: a request that needs one of them waits for it instead of calling the provider again. */

/** A vector that the upstream returned. */
export interface FetchedVector {
  packed: Uint8Array
  promptTokens: number
  responseModel: string
}

/** One request's share in fetching vectors. */
export interface VectorSubscription {
  /** Names that were not in flight. The request that joined must settle each of them, also when it fails. */
  toFetch: ReadonlySet<string>
  /** The vectors that other requests are fetching. A promise resolves to null when its fetch failed. */
  inFlight: ReadonlyMap<string, Promise<FetchedVector | null>>
  /** Resolves the vector for waiting requests; null means that there is none. Later calls for the same name have no effect. */
  settle(name: string, vector: FetchedVector | null): void
}

export class InFlightVectors {
  readonly #inFlight = new Map<string, PromiseWithResolvers<FetchedVector | null>>()

  /** Subscribes to vectors by name. Names are unique within a `group`. */
  join(group: string, names: readonly string[]): VectorSubscription {
    const toFetch = new Set<string>()
    const inFlight = new Map<string, Promise<FetchedVector | null>>()
    for (const name of names) {
      const key = `${group} ${name}`
      const pending = this.#inFlight.get(key)
      if (pending) {
        inFlight.set(name, pending.promise)
        continue
      }
      this.#inFlight.set(key, Promise.withResolvers())
      toFetch.add(name)
    }
    return {
      toFetch,
      inFlight,
      settle: (name, vector) => {
        if (!toFetch.delete(name)) return
        this.#inFlight.get(`${group} ${name}`)?.resolve(vector)
        this.#inFlight.delete(`${group} ${name}`)
      },
    }
  }
}
