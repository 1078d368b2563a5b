/** A queue in which owners take turns: an owner with many items delays only itself. */

export class FairQueue<Item> {
  /** Owners with items, in the order of their turns. */
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
