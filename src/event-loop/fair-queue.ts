/** A queue in which owners take turns: an owner with many items delays only itself. */

export class FairQueue<Owner, Item> {
  /** Owners with items, in the order of their turns. */
  readonly #owners = new Map<Owner, Item[]>()

  add(owner: Owner, item: Item): void {
    const own = this.#owners.get(owner)
    if (own) own.push(item)
    else this.#owners.set(owner, [item])
  }

  /** Whose turn it is, of those who may have one. */
  nextOwner(mayHave: (owner: Owner) => boolean): Owner | undefined {
    return this.#owners.keys().find(mayHave)
  }

  /** The owner's first item; its next one has its turn after those of others. */
  dequeue(owner: Owner): Item | undefined {
    const own = this.#owners.get(owner)
    const item = own?.shift()
    this.#owners.delete(owner)
    if (own && own.length > 0) this.#owners.set(owner, own)
    return item
  }
}
