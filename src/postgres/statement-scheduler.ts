/** When each statement of a connection may be sent: at once, or when it is alone. */

interface Statement {
  text: string
  hasParameters: boolean
}

/**
 * The driver asks for the types of a statement's parameters before it sends their values, without ending the exchange in between. PgBouncer
 * 1.18 hands the server to another client after the last reply to what was sent before, and the statement never gets one. Such a statement
 * is sent when it is alone on its connection: the first of each text, or, where none are kept prepared, each.
 */
export class StatementScheduler {
  readonly #keepsPrepared: boolean
  readonly #described = new Set<string>()
  readonly #waiting: { statement: Statement; start: () => void }[] = []
  #inFlight = 0
  #isDescribing = false

  constructor(keepsPrepared: boolean) {
    this.#keepsPrepared = keepsPrepared
  }

  send<T>(statement: Statement, send: () => Promise<T>): Promise<T> {
    if (this.#waiting.length === 0 && this.#isFree(statement)) return this.#start(statement, send)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, start: () => void this.#start(statement, send).then(resolve, reject) })
    })
  }

  #isFree(statement: Statement): boolean {
    return !this.#isDescribing && (this.#inFlight === 0 || !this.#needsDescribing(statement))
  }

  #needsDescribing({ text, hasParameters }: Statement): boolean {
    return hasParameters && !this.#described.has(text)
  }

  async #start<T>(statement: Statement, send: () => Promise<T>): Promise<T> {
    this.#inFlight++
    this.#isDescribing = this.#needsDescribing(statement)
    try {
      const result = await send()
      if (this.#isDescribing && this.#keepsPrepared) this.#described.add(statement.text)
      return result
    } finally {
      this.#inFlight--
      this.#isDescribing = false
      while (this.#waiting[0] && this.#isFree(this.#waiting[0].statement)) this.#waiting.shift()?.start()
    }
  }
}
