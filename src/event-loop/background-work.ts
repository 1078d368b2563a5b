/** Tracks work that continues after its request was answered, so that a shutdown can wait for it. */

export class BackgroundWork {
  readonly #underWay = new Set<Promise<void>>()

  /** `work` must not reject. It is returned for callers that wait for it. */
  add(work: Promise<void>): Promise<void> {
    this.#underWay.add(work)
    void work.then(() => this.#underWay.delete(work))
    return work
  }

  /** Resolves when all work is done, including work added meanwhile. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
