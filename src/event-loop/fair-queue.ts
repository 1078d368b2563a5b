/** A queue in which owners take turns: who adds much waits behind itself, and not others behind it. */

export class FairQueue<Item> {
  /** In the order of their turns; none without items. */
  readonly #owners = new Map<string | number, Item[]>()

  add(owner: string | number, item: Item): void {
    const own = this.#owners.get(owner)
    if (own) own.push(item)
    else this.#owners.set(owner, [item])
  }

  take(): Item | undefined {
    for (const [owner, own] of this.#owners) {
      const item = own.shift()
      this.#owners.delete(owner)
      if (own.length > 0) this.#owners.set(owner, own)
      return item
    }
    return undefined
  }
}
