/** Whether a request takes longer than the length of its text explains. */

/** Linear work takes four times as long for a text of four times the length, quadratic work sixteen. */
const TIMES_LONGER = 4
const MOST_TIMES = 9
/** What is answered sooner is not looked at again: a square of 60,000 characters takes seconds, and a worker's turn some tenths of one. */
const FLOOR_MS = 400
const TRIES = 4

/** Null, or how the time grew. A slow answer is asked for again: what only this machine did, it does not do each time. */
export async function findSlowRequest(
  chars: number,
  send: (chars: number) => Promise<unknown>,
): Promise<string | null> {
  const firstMs = await timeOf(() => send(chars))
  if (firstMs < FLOOR_MS) return null
  let grown: string | null = null
  for (let tried = 0; tried < TRIES; tried++) {
    // What looks linear by the first, slowest time is not sent at its full length again.
    const longMs = tried === 0 ? firstMs : await fastest(() => send(chars))
    if (longMs < FLOOR_MS) return null
    const shortMs = await fastest(() => send(Math.round(chars / TIMES_LONGER)))
    if (longMs / shortMs < MOST_TIMES) return null
    grown = `${chars / TIMES_LONGER} characters took ${shortMs.toFixed()} ms, ${chars} took ${longMs.toFixed()} ms`
  }
  return grown
}

async function fastest(run: () => Promise<unknown>): Promise<number> {
  const times = [await timeOf(run), await timeOf(run), await timeOf(run)]
  return Math.min(...times)
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now()
  await run()
  return performance.now() - startedAtMs
}
