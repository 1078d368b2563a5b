/**
 * Texts that make regular expressions and loops slow: a short unit, repeated many times, and an end that makes a match fail at the last
 * character.
 */

const UNITS = [
  ...['[', ']', '[]', '(', '{"', '}', '<', '`', '"', '\\', "'", '='],
  ...[' ', '\n', '\r\n', '\t', '. ', '.', ',', ';', ':', '/', '-', '_', '@', 'a@', '.a', 'a.', '%', '$', '#', '*'],
  ...['a', 'a ', 'aA', '0', '1 ', '0,', '+1', '\u0301', 'e\u0301', '\u4e2d', '\u{1f600}', '\u00a0', '\u2028', '\0'],
] as const
const ENDS = ['', 'x', '\n!'] as const

export interface HostileShape {
  name: string
  write(chars: number): string
}

/** `[[[[…`, `a@a@…x` and so on, each with a name. */
export const HOSTILE_SHAPES: readonly HostileShape[] = UNITS.flatMap(unit =>
  ENDS.map(end => ({
    name: `${JSON.stringify(unit)}…${JSON.stringify(end)}`,
    write: (chars: number) => unit.repeat(Math.ceil((chars - end.length) / unit.length)) + end,
  })),
)
