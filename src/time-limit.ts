/** Time limits on calls that must not hang. */

export class TimeLimitExceeded extends Error {
  constructor(limitMs: number) {
    super(`No result within ${limitMs} ms`)
    this.name = 'TimeLimitExceeded'
  }
}

/** The call's own outcome, or TimeLimitExceeded once the limit has passed; the call itself goes on unheard. */
export function withinTimeLimit<T>(limitMs: number, call: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitExceeded(limitMs)), limitMs)
    call.then(
      value => {
        clearTimeout(timer)
        resolve(value)
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
