/** A field may lie beyond the end of what it stands in: decoders go on without it. */
export function asFarAsItGoes<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
