/** Vectors that are being fetched just now: whoever wants the same one waits for it instead of asking again. */

/** A vector as upstream just gave it. */
export interface FetchedVector {
  packed: Uint8Array
  promptTokens: number
  answeredAs: string
}

/** One request's part in fetching. */
export interface JoinedVectors {
  /** Names that nobody else is fetching. Whoever joined must settle each of them, come what may. */
  mine: ReadonlySet<string>
  /** For all others, what becomes of them: null where whoever fetched them failed. */
  theirs: ReadonlyMap<string, Promise<FetchedVector | null>>
  /** Tells those who wait; null: there is nothing to be had. Only the first call for a name counts. */
  settle(name: string, vector: FetchedVector | null): void
}

export class VectorCalls {
  readonly #underWay = new Map<string, PromiseWithResolvers<FetchedVector | null>>()

  /** `group`: names are compared within it alone. */
  join(group: string, names: readonly string[]): JoinedVectors {
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
      mine,
      theirs,
      settle: (name, vector) => {
        if (!mine.delete(name)) return
        this.#underWay.get(`${group} ${name}`)?.resolve(vector)
        this.#underWay.delete(`${group} ${name}`)
      },
    }
  }
}
