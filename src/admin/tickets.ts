/** Lets so many run at once; the others wait in line. */
export function createTickets(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = []
  let running = 0
  return async work => {
    if (running >= atOnce) await new Promise<void>(resolve => line.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // Whoever is next takes this one's place.
      const next = line.shift()
      if (next) next()
      else running--
    }
  }
}
