/** Reads counts and amounts of money, which providers write as a number or as text. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { USAGE_FIELD_PATHS, type UsageField } from './usage-fields.ts'

/** The maximum of a count column in a usage record. */
const MAX_COUNT = 2_000_000_000

/** Returns null for a value that is not a count: missing, negative, too large, or of another type. */
export function readCount(value: unknown): number | null {
  const count = readNonNegativeNumber(value)
  return count === null || count > MAX_COUNT ? null : Math.round(count)
}

/** Returns null for a value that is not an amount or is above `max`. */
export function readAmount(value: unknown, max: number): number | null {
  const amount = readNonNegativeNumber(value)
  return amount === null || amount > max ? null : amount
}

const DECIMAL = /^\d{1,20}(?:\.\d{1,20})?$/

/** Returns null for a value that is neither a non-negative number nor the text of one. */
export function readNonNegativeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : null
}

export type ReportedCounts = Partial<Record<UsageField, number>>

/** A name in a usage object, with the counts that it stands for and the names within it. */
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

/** Returns each count that the usage contains under any of its names, and the largest if there are several. Walks the usage once. */
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
