/** Work that goes on after its request was answered, so that whoever ends the process can wait for it. */

export class BackgroundWork {
  readonly #underWay = new Set<Promise<void>>()

  /** `work` must not reject. Returned as it is, for who waits for this one. */
  add(work: Promise<void>): Promise<void> {
    this.#underWay.add(work)
    void work.then(() => this.#underWay.delete(work))
    return work
  }

  /** Resolves when nothing is under way any more, what was added meanwhile included. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
