/** Finds numbers in JSON text that JavaScript may not hold exactly. */

/**
 * Sixteen digits or more, or an exponent of three digits, which may exceed a double. It may also match inside a string, which is harmless
 * for its callers.
 */
const INEXACT_NUMBER = /[[:,]\s*-?\d(?:[\d.eE+-]{15,}|[\d.]*[eE][+-]?\d{3})/

/** Whether parsing this JSON text and writing it again could change a number. */
export function hasInexactNumber(jsonText: string): boolean {
  return INEXACT_NUMBER.test(jsonText)
}
