/** Derives invalid requests from the schemas that an operation declares: one for each field and each kind of problem. */
import { RULE_KEYWORD } from '../../src/admin/field-types.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas and their values may be anything
type Json = any

export type Kind = 'missing' | 'unknown' | 'type' | 'range'

export interface InvalidInput {
  kind: Kind
  /** The path of the field, such as `selector.model`. */
  field: string
  /** The query or the body. */
  value: Record<string, Json>
}

/** Texts of which at least one matches each rule. */
const TEXTS = [
  'a',
  'a@example.org',
  'https://example.org/',
  'team=search',
  'key_1',
  'page_1',
  'tag:team',
  'x'.repeat(12),
]
/** Texts of which at least one matches no rule. */
const WRONG_TEXTS = ['\u0007', 'no such word']

/** Returns a valid value with its required fields. */
export function sampleOf(schema: Json): Json {
  if (schema.anyOf) return sampleOf(schema.anyOf[0])
  if (schema.const !== undefined) return schema.const
  if (schema.type === 'object') {
    const required = (schema.required ?? []).map((name: string) => [name, sampleOf(schema.properties[name])])
    const [[name, first] = ['', null]] = Object.entries(schema.properties ?? {})
    if (schema.minProperties && required.length === 0) required.push([name, sampleOf(first)])
    return Object.fromEntries(required)
  }
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items))
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return sampleText(schema)
  return null
}

function sampleText(schema: Json): string {
  const { enum: words, pattern } = schema[RULE_KEYWORD] ?? {}
  if (words) return words[0]
  const found = TEXTS.find(
    text => text.length >= (schema.minLength ?? 0) && (!pattern || new RegExp(pattern).test(text)),
  )
  if (found === undefined) throw new Error(`TEXTS has no text that matches ${pattern}`)
  return found
}

/** Lists the invalid inputs. `inQuery` is true for query parameters, where each scalar is text. */
export function listInvalidInputs(schema: Json, inQuery: boolean): InvalidInput[] {
  return invalidObjects(schema, inQuery).map(({ kind, field, value }) => ({ kind, field, value }))
}

function invalidObjects(schema: Json, inQuery: boolean): InvalidInput[] {
  const sample = sampleOf(schema)
  const found: InvalidInput[] = []
  if (schema.additionalProperties === false)
    found.push({ kind: 'unknown', field: 'surplus', value: { ...sample, surplus: 'a' } })
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const { [name]: _, ...others } = sample
    if (schema.required?.includes(name)) found.push({ kind: 'missing', field: name, value: others })
    for (const { kind, field: inner, value } of invalidValues(field, inQuery))
      found.push({ kind, field: inner === '' ? name : `${name}.${inner}`, value: { ...sample, [name]: value } })
  }
  return found
}

/** Lists invalid values of a field. The path of the field itself is empty. */
function invalidValues(schema: Json, inQuery: boolean): { kind: Kind; field: string; value: Json }[] {
  const types = typesOf(schema)
  if (types.length === 0) return []
  const wrong = inQuery ? ['no number'] : ['a text', 1.5, true, [], {}, null]
  const other = wrong.find(value => !types.some(type => isOfType(value, type)))
  // A query parameter that is a list may be given once.
  const hasWrongType = other !== undefined && !(inQuery && types.includes('array'))
  return [
    ...(hasWrongType ? [{ kind: 'type' as const, field: '', value: other }] : []),
    ...valuesOutOfRange(schema).map(value => ({ kind: 'range' as const, field: '', value })),
    ...(schema.type === 'object' ? invalidObjects(schema, inQuery) : []),
    ...(schema.type === 'array' ? invalidItems(schema.items, inQuery) : []),
  ]
}

function invalidItems(schema: Json, inQuery: boolean) {
  return invalidValues(schema, inQuery).map(({ kind, field, value }) => {
    const place = inQuery ? '' : '0'
    return { kind, field: [place, field].filter(Boolean).join('.'), value: [value] }
  })
}

function valuesOutOfRange(schema: Json): Json[] {
  if (schema.anyOf) {
    const choices: Json[] = schema.anyOf
    return choices.every(choice => choice.const !== undefined) ? ['no such word'] : valuesOutOfRange(choices[0])
  }
  const { type, minimum, maximum, exclusiveMaximum, minLength, maxLength, minItems, maxItems } = schema
  if (schema.const !== undefined) return ['no such word']
  const values: Json[] = []
  if (minimum !== undefined) values.push(minimum - 1)
  if (maximum !== undefined) values.push(maximum + 1)
  if (exclusiveMaximum !== undefined) values.push(exclusiveMaximum)
  if (minLength > 0) values.push('')
  if (maxLength !== undefined) values.push('a'.repeat(maxLength + 1))
  if (minItems > 0) values.push([])
  if (maxItems !== undefined) values.push(Array.from({ length: maxItems + 1 }, () => sampleOf(schema.items)))
  if (type === 'string') values.push('\0')
  const { enum: words, pattern, isCheckedByOperation } = schema[RULE_KEYWORD] ?? {}
  if (isCheckedByOperation || !(words || pattern)) return values
  const wrong = WRONG_TEXTS.find(text => (words ? !words.includes(text) : !new RegExp(pattern).test(text)))
  return [...values, wrong ?? '\0']
}

function typesOf(schema: Json): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(typesOf)
  return schema.type ? [schema.type] : []
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
