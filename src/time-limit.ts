/** Time limits on calls that must not hang. */

export class TimeLimitExceeded extends Error {
  constructor(limitMs: number) {
    super(`No result within ${limitMs} ms`)
    this.name = 'TimeLimitExceeded'
  }
}

/** The call's own outcome, or TimeLimitExceeded once the limit has passed; the call itself goes on unheard. */
export function withinTimeLimit<T>(limitMs: number, call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeLimitExceeded(limitMs)), limitMs)
  })
  return Promise.race([call, limit]).finally(() => clearTimeout(timer))
}
