/** What was used lately, for values that are made anew at little cost: nothing is kept in order, so using one costs a look into a map. */
export class Lately<Value> {
  readonly #mostChars: number
  #chars = 0
  #newer = new Map<string, Value>()
  #older = new Map<string, Value>()

  /** `mostChars`: of names, from one change of generations to the next. At most twice that is kept. */
  constructor(mostChars: number) {
    this.#mostChars = mostChars
  }

  get(name: string): Value | undefined {
    const value = this.#newer.get(name)
    if (value !== undefined) return value
    const older = this.#older.get(name)
    if (older !== undefined) this.set(name, older)
    return older
  }

  set(name: string, value: Value): void {
    if (this.#chars >= this.#mostChars) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#chars = 0
    }
    this.#newer.set(name, value)
    this.#chars += name.length
  }
}
