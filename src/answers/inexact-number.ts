/** Numbers in JSON text that JavaScript may not hold exactly. */

/** Sixteen digits or more, or an exponent to go with them. It may also match inside a string: harmless for its callers. */
const INEXACT_NUMBER = /[[:,]\s*-?\d[\d.eE+-]{15,}/

/** Whether parsing and writing this JSON text anew could change a number in it. */
export function hasInexactNumber(jsonText: string): boolean {
  return INEXACT_NUMBER.test(jsonText)
}
