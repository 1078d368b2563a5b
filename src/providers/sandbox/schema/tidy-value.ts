/** Owns how proposed values are made presentable: texts name their field, and multiples are the decimals they should be. */
import type { JsonSchema } from 'json-schema-faker'

/** Keywords that say more of a text than how long it is. */
const DEMANDING = ['enum', 'const', 'pattern', 'format', 'default', 'examples', 'example', '$ref', 'not']

/** Three times 0.1 is 0.3, without the noise of binary fractions. */
export function roundMultiple(value: unknown, schema: JsonSchema): unknown {
  if (typeof value !== 'number' || typeof schema === 'boolean' || schema.multipleOf === undefined) return value
  return Number(value.toPrecision(15))
}

/**
 * The value itself, its multiple rounded, or `sandbox <name>` for a text that no keyword but its length bounds. `path` is the place in the
 * instance; items of one list are numbered, so that they differ.
 */
export function tidyValue(value: unknown, schema: JsonSchema, path: string): unknown {
  if (typeof value !== 'string' || typeof schema === 'boolean') return roundMultiple(value, schema)
  if (DEMANDING.some(keyword => schema[keyword] !== undefined)) return value
  const text = `sandbox ${nameOf(path)}`
  const { minLength = 0, maxLength = Infinity } = schema
  const isLongEnough = minLength <= text.length
  return isLongEnough && text.length <= maxLength ? text : value
}

function nameOf(path: string): string {
  const steps = path.split('/').map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const isIndex = (step: string) => /^\d+$/.test(step)
  const name = steps.findLast(step => step !== '' && !isIndex(step)) ?? 'value'
  const last = steps.at(-1) ?? ''
  return isIndex(last) ? `${name} ${Number(last) + 1}` : name
}
