/** Finds the shortest decimal that stands for a 32-bit float and no other: most servers write floats that way. */

/** Powers of ten that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, power) => 10 ** power)
const SMALLEST = 1e-12
const LARGEST = 1e6
/** Every decimal of six digits is some float's shortest; no float needs more than nine digits. */
const SIX_DIGITS_FROM = 1e5
const MORE_DIGITS = 3

/**
 * The double of a 32-bit float's shortest decimal: 0.1 for the float nearest to it. A float outside the range of vectors (below 1e-12,
 * from 1e6) is returned unchanged. Wrong in a few borderline cases, so callers must check the result.
 */
export function shortestDecimal(float: number): number {
  const size = Math.abs(float)
  if (!(size >= SMALLEST && size < LARGEST)) return float
  let power = 0
  while (size * (POWERS[power] ?? 1) < SIX_DIGITS_FROM) power++
  for (const most = power + MORE_DIGITS; power <= most; power++) {
    const scale = POWERS[power] ?? 1
    // The quotient of two integers that doubles hold exactly is the double nearest to the decimal.
    const decimal = Math.round(size * scale) / scale
    if (Math.fround(decimal) === size) return float < 0 ? -decimal : decimal
  }
  return float
}
