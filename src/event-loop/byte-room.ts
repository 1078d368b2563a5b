/** Memory that many requests of a process share: whoever holds bytes of it says so, and gives them back. */

export class ByteRoom {
  readonly size: number
  #taken = 0

  constructor(size: number) {
    this.size = size
  }

  get taken(): number {
    return this.#taken
  }

  fits(bytes: number): boolean {
    return this.#taken + bytes <= this.size
  }

  /** Also takes what does not fit: bytes that have arrived are held, whatever is said of them. */
  take(bytes: number): void {
    this.#taken += bytes
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes
  }
}
