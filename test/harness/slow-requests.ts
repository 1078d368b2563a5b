/** Checks that the time of a request grows no faster than linearly with the length of its text. */

/** For a text of four times the length, linear work takes four times as long and quadratic work sixteen times. */
const TIMES_LONGER = 4
const MOST_TIMES = 9
/** Faster requests pass at once: quadratic work on 60,000 characters takes seconds, a start of a worker a few tenths of one. */
const FLOOR_MS = 400
const TRIES = 4

/** Returns null, or a description of the growth. A slow request is repeated, because a busy machine does not slow down every attempt. */
export async function findSlowRequest(
  chars: number,
  send: (chars: number) => Promise<unknown>,
): Promise<string | null> {
  const firstMs = await timeOf(() => send(chars))
  if (firstMs < FLOOR_MS) return null
  let grown: string | null = null
  for (let tried = 0; tried < TRIES; tried++) {
    // If the first, slowest time is linear, the request is not repeated at its full length.
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
