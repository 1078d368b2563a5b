/** Reads a count, or an amount of money, as providers write them: a number, or a number as text. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { USAGE_FIELD_PATHS, type UsageField } from './usage-fields.ts'

/** What a column of the request record holds. */
const MAX_COUNT = 2_000_000_000

/** Null for a value that is not a count: missing, negative, or of another type. */
export function readCount(value: unknown): number | null {
  const count = readNonNegativeNumber(value)
  return count === null || count > MAX_COUNT ? null : Math.round(count)
}

/** Null for a value that is not an amount, or more than `most`. */
export function readAmount(value: unknown, most: number): number | null {
  const amount = readNonNegativeNumber(value)
  return amount === null || amount > most ? null : amount
}

const DECIMAL = /^\d{1,20}(?:\.\d{1,20})?$/

/** Null for a value that is neither a number of zero or more, nor one as text. */
export function readNonNegativeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : null
}

export type ReportedCounts = Partial<Record<UsageField, number>>

/** A name within a usage object: the counts that it stands for, and the names within it. */
interface PathNode {
  fields: UsageField[]
  within: Map<string, PathNode>
}

const ROOT: PathNode = { fields: [], within: new Map() }
for (const [field, paths] of Object.entries(USAGE_FIELD_PATHS))
  for (const path of paths) addPath(path, field as UsageField)

function addPath(path: string, field: UsageField): void {
  let node = ROOT
  for (const name of path.split('.')) {
    const next = node.within.get(name) ?? { fields: [], within: new Map() }
    node.within.set(name, next)
    node = next
  }
  node.fields.push(field)
}

/** Returns each count that the usage holds under any of its names, the largest of several. The usage is walked once. */
export function readUsageCounts(usage: JsonObject): ReportedCounts {
  const counts: ReportedCounts = {}
  collect(usage, ROOT, counts)
  return counts
}

function collect(object: JsonObject, { within }: PathNode, counts: ReportedCounts): void {
  for (const name in object) {
    const node = Object.hasOwn(object, name) ? within.get(name) : undefined
    if (node === undefined) continue
    const value = object[name]
    const count = node.fields.length > 0 ? readCount(value) : null
    if (count !== null) for (const field of node.fields) counts[field] = Math.max(counts[field] ?? 0, count)
    if (node.within.size > 0 && isJsonObject(value)) collect(value, node, counts)
  }
}
