/** Makes proposed values presentable: texts name their field, and multiples are exact decimals. */
import type { JsonSchema } from 'json-schema-faker'

/** Keywords that restrict a text beyond its length. */
const DEMANDING = ['enum', 'const', 'pattern', 'format', 'default', 'examples', 'example', '$ref', 'not']

/** Three times 0.1 is 0.3, without binary rounding errors. */
export function roundMultiple(value: unknown, schema: JsonSchema): unknown {
  if (typeof value !== 'number' || typeof schema === 'boolean' || schema.multipleOf === undefined) return value
  return Number(value.toPrecision(15))
}

/**
 * Returns `sandbox <name>` for a text that only its length restricts, else the value, with a multiple rounded. `path` is the position in
 * the instance; items of one list are numbered, so that they differ.
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
