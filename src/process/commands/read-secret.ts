/** Reads a provider's key from standard input. */

/** The maximum length of a provider key. */
const MAX_LENGTH = 1_024
/** The last four characters of a shorter key are not shown, because they would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12

export async function readSecret(): Promise<{ secret: string; lastFour: string }> {
  const secret = (await Bun.stdin.text()).trim()
  if (secret === '') throw new Error('the key is missing: pass it on standard input')
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length > MAX_LENGTH)
    throw new Error(
      `the key on standard input is not valid: it must be one word of up to ${MAX_LENGTH} printable ASCII characters`,
    )
  return { secret, lastFour: secret.length < MIN_LENGTH_TO_SHOW ? '****' : secret.slice(-4) }
}
