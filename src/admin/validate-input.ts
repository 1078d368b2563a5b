/**
 * Validates the query and the body of requests to the admin API against their schemas. This is the only place that words what is wrong with
 * a field: it is required, unknown, of the wrong type, or out of range. Messages never quote a value, because it may be a secret.
 */
import type { TSchema } from '@sinclair/typebox'
import { invalidRequestError } from '../errors/errors.ts'
import { RULE_KEYWORD, STRICT_OBJECT, type TextRule } from './field-types.ts'

/** The schemas of a request. A part without a schema must have no fields. */
export interface InputSchemas {
  query?: TSchema
  body?: TSchema
}

/** The keywords of JSON Schema that the operations use. */
interface Schema {
  type?: string
  const?: string
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  minProperties?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMaximum?: number
  [RULE_KEYWORD]?: TextRule
}

/** A problem of the field at `path`. */
interface Problem {
  path: string
  says: string
}

const NO_FIELDS: Schema = { type: 'object', properties: {}, ...STRICT_OBJECT }
const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/** Throws a 400 that names the first invalid field. */
export function validateInput({ query, body }: InputSchemas, given: { query: unknown; body: unknown }): void {
  reject(findProblem((query ?? NO_FIELDS) as Schema, given.query ?? {}, ''), 'query parameter')
  reject(findProblem((body ?? NO_FIELDS) as Schema, given.body ?? {}, ''), 'field')
}

function reject(problem: Problem | null, place: string): void {
  if (problem === null) return
  const { says } = problem
  // The items of a list are repetitions of one query parameter.
  const path = place === 'field' ? problem.path : problem.path.replace(/\.\d+$/, '')
  throw path === '' ? invalidRequestError(`${says}.`) : invalidRequestError(`The ${place} '${path}' ${says}.`, path)
}

/** Returns the first problem of a value; null if it matches the schema. */
function findProblem(schema: Schema, value: unknown, path: string): Problem | null {
  const types = typesOf(schema)
  if (types.length > 0 && !types.some(type => hasType(value, type)))
    return { path, says: `must be ${types.map(type => TYPE_NAMES[type]).join(' or ')}, not ${describeType(value)}` }
  if (schema.anyOf) return findProblemOfChoice(schema.anyOf, value, path)
  if (schema.const !== undefined && value !== schema.const) return { path, says: `must be ${schema.const}` }
  if (typeof value === 'string') return problemOf(path, describeTextLimit(schema, value))
  if (typeof value === 'number') return problemOf(path, describeNumberLimit(schema, value))
  if (Array.isArray(value)) return findProblemOfList(schema, value, path)
  return types.includes('object') ? findProblemOfObject(schema, value as object, path) : null
}

const problemOf = (path: string, says: string | null): Problem | null => (says === null ? null : { path, says })

function findProblemOfChoice(choices: readonly Schema[], value: unknown, path: string): Problem | null {
  const words = choices.flatMap(choice => choice.const ?? [])
  if (words.length === choices.length)
    return words.includes(String(value)) ? null : { path, says: `must be one of ${words.join(', ')}` }
  const problems = choices
    .filter(choice => typesOf(choice).some(type => hasType(value, type)))
    .map(choice => findProblem(choice, value, path))
  return problems.includes(null) ? null : (problems[0] ?? null)
}

function findProblemOfList({ items, ...schema }: Schema, value: readonly unknown[], path: string): Problem | null {
  const size = describeSize(value.length, schema.minItems, schema.maxItems, 'item')
  if (size !== null) return { path, says: size }
  return firstProblem(items ? value.map((each, index) => () => findProblem(items, each, `${path}.${index}`)) : [])
}

function findProblemOfObject(schema: Schema, value: object, path: string): Problem | null {
  const { properties = {}, patternProperties, required = [], minProperties = 0 } = schema
  const names = Object.keys(properties)
  const schemaOf = (name: string): Schema | undefined => {
    if (Object.hasOwn(properties, name)) return properties[name]
    return Object.entries(patternProperties ?? {}).find(([pattern]) => new RegExp(pattern).test(name))?.[1]
  }
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const unknown = Object.keys(value).find(name => schemaOf(name) === undefined)
  if (unknown !== undefined)
    return { path: at(unknown), says: `is unknown${names.length > 0 ? `; known are ${names.join(', ')}` : ''}` }
  const missing = required.find(name => !Object.hasOwn(value, name))
  if (missing !== undefined) return { path: at(missing), says: 'is required' }
  if (Object.keys(value).length < minProperties)
    return { path, says: `At least one of the fields ${names.join(', ')} is required` }
  return firstProblem(
    Object.entries(value).map(
      ([name, each]) =>
        () =>
          findProblem(schemaOf(name) ?? {}, each, at(name)),
    ),
  )
}

function firstProblem(finders: readonly (() => Problem | null)[]): Problem | null {
  for (const find of finders) {
    const problem = find()
    if (problem !== null) return problem
  }
  return null
}

function describeTextLimit(schema: Schema, text: string): string | null {
  // PostgreSQL's text cannot hold U+0000.
  if (text.includes('\0')) return 'must not contain the character U+0000'
  const { [RULE_KEYWORD]: rule, minLength, maxLength } = schema
  const size = describeSize([...text].length, minLength, maxLength, 'character')
  if (size !== null) return size
  if (rule === undefined || rule.isCheckedByOperation) return null
  if ('enum' in rule) return rule.enum.includes(text) ? null : `must be one of ${rule.enum.join(', ')}`
  return new RegExp(rule.pattern, 'u').test(text) ? null : `must be ${rule.form}`
}

function describeNumberLimit({ minimum = -Infinity, maximum, exclusiveMaximum }: Schema, value: number): string | null {
  if (exclusiveMaximum !== undefined && (value < minimum || value >= exclusiveMaximum))
    return `must be at least ${minimum} and less than ${exclusiveMaximum}`
  return value < minimum || value > (maximum ?? Infinity) ? `must be from ${minimum} to ${maximum}` : null
}

function describeSize(size: number, min = 0, max = Infinity, unit: string): string | null {
  if (size >= min && size <= max) return null
  const plural = `${unit}s`
  if (max === Infinity) return `must have at least ${min} ${min === 1 ? unit : plural}`
  return min === 0 ? `must have at most ${max} ${plural}` : `must have ${min} to ${max} ${plural}`
}

/** Returns the JSON types that a schema allows; none if it allows all. */
function typesOf({ type, anyOf }: Schema): string[] {
  if (anyOf) return [...new Set(anyOf.flatMap(typesOf))]
  return type === undefined ? [] : [type]
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'a boolean'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction'
  return TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? 'nothing'
}
