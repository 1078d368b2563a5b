/** Which server is the primary: of several that take writes the one on the highest timeline, and none that was left behind. */

export interface ServerIdentity {
  /** The same for all servers that were copied from one another. */
  system: string
  /** A standby that is promoted begins the next one. */
  timeline: number
  /** Of one start of one server: two addresses may lead to the same. */
  instance: string
}

/** What is seen of a primary: its system and its timeline. */
export type PrimaryPosition = Pick<ServerIdentity, 'system' | 'timeline'>

/** `old primary`: the only one that can be reached was left behind, and is not used. */
export type PrimaryProblem = 'two primaries' | 'old primary'

interface Server {
  /** Null where the server does not tell. */
  identity: ServerIdentity | null
}

/** Shared by all connections to one address. */
export class PrimaryTracker {
  #seen: PrimaryPosition | null = null
  #problem: PrimaryProblem | null = null
  /** Called when a problem comes or goes. */
  onProblem: (problem: PrimaryProblem | null) => void = () => {}
  /** Called when a server on a higher timeline, or of another system, is used. */
  onPromotion: () => void = () => {}

  /** The highest timeline that was seen, of the system in use; null before the first connection. */
  get position(): PrimaryPosition | null {
    return this.#seen
  }

  /** As found when the servers were last asked. */
  get problem(): PrimaryProblem | null {
    return this.#problem
  }

  /** Another process of the installation has seen it. */
  advance({ system, timeline }: PrimaryPosition): void {
    if (this.#seen?.system === system && timeline > this.#seen.timeline) this.#seen = { system, timeline }
  }

  /** Whether a standby of this server was promoted. A server of another system has another history, and is not compared. */
  isOutdated(identity: ServerIdentity | null): boolean {
    return identity !== null && this.#seen?.system === identity.system && identity.timeline < this.#seen.timeline
  }

  /** Whether a standby with this history has that of the server in use; unknown ones count as such. */
  hasSameHistory({ system, timeline }: PrimaryPosition): boolean {
    return this.#seen === null || (this.#seen.system === system && this.#seen.timeline === timeline)
  }

  /** `found`: those that take writes, at least one; `areAll`: no other may answer yet. Throws when it was left behind. */
  choosePrimary<S extends Server>(found: readonly S[], areAll = true): S {
    const best = found.reduce((best, each) => (this.#rank(each) > this.#rank(best) ? each : best))
    const isOld = this.isOutdated(best.identity)
    const instances = new Set(found.flatMap(({ identity }) => identity?.instance ?? []))
    const problem = instances.size > 1 ? 'two primaries' : isOld ? 'old primary' : null
    if (areAll || problem) this.#note(problem)
    if (isOld)
      throw new Error(
        `the server is an old primary: it is on timeline ${best.identity?.timeline}, and timeline ${this.#seen?.timeline} has been used`,
      )
    if (best.identity && !this.#isSeen(best.identity)) {
      this.#seen = best.identity
      this.onPromotion()
    }
    return best
  }

  /** The operator may have led the address to another system. */
  #isSeen({ system, timeline }: ServerIdentity): boolean {
    return this.#seen?.system === system && this.#seen.timeline === timeline
  }

  #note(problem: PrimaryProblem | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.onProblem(problem)
  }

  #rank({ identity }: Server): number {
    const isOurs = identity !== null && (this.#seen === null || this.#seen.system === identity.system)
    return isOurs ? identity.timeline : 0
  }
}
