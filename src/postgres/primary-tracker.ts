/** Chooses the primary: of the servers that accept writes, the one on the highest timeline. An old primary is rejected. */

export interface ServerIdentity {
  /** The system identifier, which is the same for a primary and its standbys. */
  system: string
  /** The timeline. A standby that is promoted starts the next one. */
  timeline: number
  /** Identifies one start of one server. Two addresses may resolve to the same server. */
  instance: string
}

/** The system and the timeline of a primary. */
export type PrimaryPosition = Pick<ServerIdentity, 'system' | 'timeline'>

/** `old primary`: the only reachable server that accepts writes is on an old timeline, and is not used. */
export type PrimaryProblem = 'two primaries' | 'old primary'

interface Server {
  /** Null if the server does not report its identity. */
  identity: ServerIdentity | null
}

/** Tracks the primary of one address. All connections to the address share a tracker. */
export class PrimaryTracker {
  #position: PrimaryPosition | null = null
  #problem: PrimaryProblem | null = null
  /** Called when a problem appears, changes or is resolved. */
  onProblem: (problem: PrimaryProblem | null) => void = () => {}
  /** Called when a server on a higher timeline, or of another system, is used. */
  onPromotion: () => void = () => {}

  /** The highest timeline seen of the system in use; null before the first connection. */
  get position(): PrimaryPosition | null {
    return this.#position
  }

  /** The problem found when servers were last compared; null for none. */
  get problem(): PrimaryProblem | null {
    return this.#problem
  }

  /** Advances to a higher timeline that another process of the installation has seen. */
  advance({ system, timeline }: PrimaryPosition): void {
    if (this.#position?.system === system && timeline > this.#position.timeline) this.#position = { system, timeline }
  }

  /** Returns true if a standby of this server was promoted. A server with a different system identifier is not compared. */
  isOutdated(identity: ServerIdentity | null): boolean {
    return (
      identity !== null && this.#position?.system === identity.system && identity.timeline < this.#position.timeline
    )
  }

  /** Returns true if a standby has the history of the server in use, or if the latter is unknown. */
  hasSameHistory({ system, timeline }: PrimaryPosition): boolean {
    return this.#position === null || (this.#position.system === system && this.#position.timeline === timeline)
  }

  /**
   * Chooses among `found`, the servers that accept writes; there is at least one. `isComplete` is true if no other server can still reply.
   * Throws when the best server is an old primary.
   */
  choosePrimary<S extends Server>(found: readonly S[], isComplete = true): S {
    const best = found.reduce((best, each) => (this.#rank(each) > this.#rank(best) ? each : best))
    const isOld = this.isOutdated(best.identity)
    const instances = new Set(found.flatMap(({ identity }) => identity?.instance ?? []))
    const problem = instances.size > 1 ? 'two primaries' : isOld ? 'old primary' : null
    if (isComplete || problem) this.#setProblem(problem)
    if (isOld)
      throw new Error(
        `the server is an old primary: it is on timeline ${best.identity?.timeline}, but timeline ${this.#position?.timeline} is in use`,
      )
    if (best.identity && !this.#isCurrent(best.identity)) {
      this.#position = best.identity
      this.onPromotion()
    }
    return best
  }

  /** Compares systems too, because an operator may point the address to another system. */
  #isCurrent({ system, timeline }: ServerIdentity): boolean {
    return this.#position?.system === system && this.#position.timeline === timeline
  }

  #setProblem(problem: PrimaryProblem | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.onProblem(problem)
  }

  #rank({ identity }: Server): number {
    const isSameSystem = identity !== null && (this.#position === null || this.#position.system === identity.system)
    return isSameSystem ? identity.timeline : 0
  }
}
