/** A queue that serves owners in turn. An owner with many items delays only itself. */

export class FairQueue<Owner, Item> {
  /** Items by owner. The owners are in the order of their turns. */
  readonly #owners = new Map<Owner, Item[]>()

  add(owner: Owner, item: Item): void {
    const items = this.#owners.get(owner)
    if (items) items.push(item)
    else this.#owners.set(owner, [item])
  }

  /** Returns the next owner that `isEligible` accepts. */
  nextOwner(isEligible: (owner: Owner) => boolean): Owner | undefined {
    return this.#owners.keys().find(isEligible)
  }

  /** Removes and returns the owner's first item, and moves the owner to the end of the queue. */
  dequeue(owner: Owner): Item | undefined {
    const items = this.#owners.get(owner)
    const item = items?.shift()
    this.#owners.delete(owner)
    if (items && items.length > 0) this.#owners.set(owner, items)
    return item
  }
}
