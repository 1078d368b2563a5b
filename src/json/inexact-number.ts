/** Numbers in JSON text that JavaScript may not hold exactly. */

/**
 * Sixteen digits or more, or an exponent of three, which may be beyond what a double holds. It may also match inside a
 * string: harmless for its callers.
 */
const INEXACT_NUMBER = /[[:,]\s*-?\d(?:[\d.eE+-]{15,}|[\d.]*[eE][+-]?\d{3})/

/** Whether parsing and writing this JSON text anew could change a number in it. */
export function hasInexactNumber(jsonText: string): boolean {
  return INEXACT_NUMBER.test(jsonText)
}
