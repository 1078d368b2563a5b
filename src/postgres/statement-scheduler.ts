/** Decides when a statement of a connection is sent: at once, or when no other is in flight. */

interface Statement {
  text: string
  hasParameters: boolean
}

/**
 * The driver requests the types of a statement's parameters before it sends their values, without a Sync in between. PgBouncer 1.18 then
 * assigns the server connection to another client after the last reply to earlier statements, and the statement never gets a reply.
 * Therefore a statement that the driver describes is sent when no other is in flight on the connection. That is the first statement of each
 * text, or every statement if none stay prepared.
 */
export class StatementScheduler {
  readonly #hasPreparedStatements: boolean
  readonly #described = new Set<string>()
  readonly #waiting: { statement: Statement; start: () => void }[] = []
  #inFlight = 0
  #isDescribing = false

  constructor(hasPreparedStatements: boolean) {
    this.#hasPreparedStatements = hasPreparedStatements
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
      if (this.#isDescribing && this.#hasPreparedStatements) this.#described.add(statement.text)
      return result
    } finally {
      this.#inFlight--
      this.#isDescribing = false
      while (this.#waiting[0] && this.#isFree(this.#waiting[0].statement)) this.#waiting.shift()?.start()
    }
  }
}
