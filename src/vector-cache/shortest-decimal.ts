/** The decimal by which most servers write a 32-bit float: the shortest that no other 32-bit float is written by. */

/** Powers of ten that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, power) => 10 ** power)
const SMALLEST = 1e-12
const LARGEST = 1e6
/** Every decimal of six digits is some float's; no float needs more than nine. */
const SIX_DIGITS_FROM = 1e5
const MORE_DIGITS = 3

/**
 * The double that the shortest decimal of a 32-bit float stands for: 0.1 for the float nearest to it. A float outside of what
 * vectors hold (below 1e-12, from 1e6) is given back as it is. Right in all but a few borderline cases: for callers that check.
 */
export function shortestDecimal(float: number): number {
  const size = Math.abs(float)
  if (!(size >= SMALLEST && size < LARGEST)) return float
  let power = 0
  while (size * (POWERS[power] ?? 1) < SIX_DIGITS_FROM) power++
  for (const most = power + MORE_DIGITS; power <= most; power++) {
    const scale = POWERS[power] ?? 1
    // A quotient of two integers that doubles hold exactly is the double nearest to the decimal.
    const decimal = Math.round(size * scale) / scale
    if (Math.fround(decimal) === size) return float < 0 ? -decimal : decimal
  }
  return float
}
