/** Vectors in flight: a request that wants one of them waits for it instead of asking the provider again. */

/** A vector as the upstream just returned it. */
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
  /** Gives waiting requests the vector, or null when there is none. Only the first call for a name counts. */
  settle(name: string, vector: FetchedVector | null): void
}

export class InFlightVectors {
  readonly #underWay = new Map<string, PromiseWithResolvers<FetchedVector | null>>()

  /** Names are compared within one `group` only. */
  join(group: string, names: readonly string[]): VectorSubscription {
    const mine = new Set<string>()
    const theirs = new Map<string, Promise<FetchedVector | null>>()
    for (const name of names) {
      const place = `${group} ${name}`
      const fetching = this.#underWay.get(place)
      if (fetching) {
        theirs.set(name, fetching.promise)
        continue
      }
      this.#underWay.set(place, Promise.withResolvers())
      mine.add(name)
    }
    return {
      toFetch: mine,
      inFlight: theirs,
      settle: (name, vector) => {
        if (!mine.delete(name)) return
        this.#underWay.get(`${group} ${name}`)?.resolve(vector)
        this.#underWay.delete(`${group} ${name}`)
      },
    }
  }
}
