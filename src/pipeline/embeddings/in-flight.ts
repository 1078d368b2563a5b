/** Vectors that are being fetched just now: whoever wants the same one waits for it instead of asking again. */

/** A vector as upstream just gave it. */
export interface FetchedVector {
  packed: Uint8Array
  promptTokens: number
  answeredAs: string
}

export interface Claim {
  /** Names that nobody else is fetching. The claimant must land each of them, come what may. */
  mine: ReadonlySet<string>
  /** For all others, what becomes of them: null where whoever fetched them failed. */
  theirs: ReadonlyMap<string, Promise<FetchedVector | null>>
  /** Tells those who wait; null: there is nothing to be had. Only the first call for a name counts. */
  land(name: string, vector: FetchedVector | null): void
}

export interface InFlight {
  /** `group`: names are compared within it alone. */
  claim(group: string, names: readonly string[]): Claim
}

export function createInFlight(): InFlight {
  const waited = new Map<string, PromiseWithResolvers<FetchedVector | null>>()

  return {
    claim(group, names) {
      const mine = new Set<string>()
      const theirs = new Map<string, Promise<FetchedVector | null>>()
      for (const name of names) {
        const fetching = waited.get(`${group} ${name}`)
        if (fetching) {
          theirs.set(name, fetching.promise)
          continue
        }
        waited.set(`${group} ${name}`, Promise.withResolvers())
        mine.add(name)
      }
      return {
        mine,
        theirs,
        land(name, vector) {
          if (!mine.has(name)) return
          waited.get(`${group} ${name}`)?.resolve(vector)
          waited.delete(`${group} ${name}`)
          mine.delete(name)
        },
      }
    },
  }
}
