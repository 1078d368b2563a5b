/** Formats the values of project settings with the titles and units of their fields. */
import { formatCount } from './format.ts'
import type { SettingKind } from './types.ts'

/** Units in ascending size, by the last word of a setting's name. */
const UNITS: Record<string, readonly (readonly [title: string, size: number])[]> = {
  seconds: [
    ['seconds', 1],
    ['minutes', 60],
    ['hours', 3600],
    ['days', 86_400],
  ],
  bytes: [
    ['bytes', 1],
    ['KiB', 1024],
    ['MiB', 1024 ** 2],
    ['GiB', 1024 ** 3],
  ],
}

/** Returns the units in which an amount is shown; undefined for a setting that is not an amount. */
export function unitsOf(name: string): (typeof UNITS)[string] | undefined {
  return UNITS[name.slice(name.lastIndexOf('_') + 1)]
}

/** Returns the index of the largest unit that divides the amount without a remainder. */
export function largestUnit(units: (typeof UNITS)[string], amount: number): number {
  return Math.max(
    0,
    units.findLastIndex(([, size]) => amount > 0 && amount % size === 0),
  )
}

/** Returns the label and the hint of a choice. The label of an unknown word is the word itself. */
export function describeChoice({ words, choices }: SettingKind, word: string): [label: string, hint: string] {
  const [label = word, hint = ''] = choices[words.indexOf(word)]?.split(/: (.*)/) ?? []
  return [label, hint]
}

/** Formats a setting for its field. Lists become comma-separated text. */
export function formatFieldValue(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? '')
}

/** Formats a value in a sentence, with the label of its choice, or its unit. `kind` is undefined for a setting of another version. */
export function describeSettingValue(kind: SettingKind | undefined, value: unknown): string {
  const text = formatFieldValue(value)
  if (text === '') return 'nothing'
  if (kind?.type === 'choice') return describeChoice(kind, text)[0]
  const amount = Number(text)
  const units = kind && unitsOf(kind.name)
  if (units && Number.isFinite(amount)) {
    const [title = '', size = 1] = units[largestUnit(units, amount)] ?? []
    const count = amount / size
    return `${formatCount(count)} ${count === 1 ? title.replace(/s$/, '') : title}`
  }
  return text
}
