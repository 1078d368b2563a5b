/** Generates JSON that matches a schema, within a fixed amount of work. Keywords that it cannot guarantee to satisfy are rejected by name. */
import { invalidRequestError } from '../../errors/errors.ts'
import {
  asNumber,
  asString,
  isJsonObject,
  type JsonObject,
  readField,
  writeField,
} from '../../formats/json/canonical.ts'
import { generateNumber, generateText, type ValuePosition } from './generate-scalar.ts'
import {
  canMatchSchema,
  contradictionError,
  instanceTooLargeError,
  isInRange,
  mergeSchemas,
  mustMatchSchema,
  optionalArray,
  schemaTypesOf,
  UnsatisfiableSchemaError,
} from './schema-rules.ts'

const MAX_SCHEMA_CHARS = 262_144
const MAX_INSTANCE_CHARS = 131_072
/** The upper bound on steps: values generated, and schemas read for them. A schema with many members counts as several steps. */
const MAX_STEPS = 10_000
const MEMBERS_PER_STEP = 64
const MAX_DEPTH = 40
/** From this depth on, optional parts are omitted and alternatives without references are preferred, so that recursion ends. */
const MIN_RECURSION_DEPTH = 6
/** The number of items that are generated until one differs from the earlier ones. */
const MAX_ATTEMPTS = 200

const UNSUPPORTED_KEYWORDS = [
  'not',
  'if',
  'contains',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  '$dynamicRef',
]

/**
 * Returns the JSON text of an instance of the schema (JSON Schema 2020-12, and draft 7's tuples). With `mustBeObject`, it is an object. The same
 * schema always returns the same text. Throws a 400 that names `param` when no instance is found.
 */
export function generateInstance(schema: unknown, param: string, mustBeObject = false): string {
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS)
      throw new UnsatisfiableSchemaError(`is longer than the ${MAX_SCHEMA_CHARS} characters that the sandbox accepts`)
    const whole = mustBeObject ? { allOf: [schema], type: 'object' } : schema
    const text = JSON.stringify(new InstanceGenerator(schema).write(whole, { name: 'value', index: 0 }, 0))
    if (text.length <= MAX_INSTANCE_CHARS) return text
    throw instanceTooLargeError()
  } catch (error) {
    if (error instanceof UnsatisfiableSchemaError)
      throw invalidRequestError(`The schema in '${param}' ${error.message}.`, param)
    throw error
  }
}

class InstanceGenerator {
  readonly #root: unknown
  #steps = 0

  /** `root` is the schema in which references are resolved. */
  constructor(root: unknown) {
    this.#root = root
  }

  write(schema: unknown, place: ValuePosition, depth: number): unknown {
    const { anyOf, oneOf, ...plain } = this.#flatten(schema, depth)
    if (anyOf !== undefined)
      return this.#writeAlternative(anyOf, { ...plain, ...(oneOf ? { oneOf } : {}) }, place, depth)
    if (oneOf !== undefined) return this.#writeAlternative(oneOf, plain, place, depth, true)
    const members = ('const' in plain ? [plain.const] : optionalArray(plain.enum))?.filter(member =>
      mustMatchSchema(member, plain),
    )
    if (members) return members.length > 0 ? members[place.index % members.length] : this.#reject()
    const types = schemaTypesOf(plain)
    const wanted = types.find(type => type !== 'null') ?? types[0]
    if (wanted === 'object') return this.#writeObject(plain, place, depth)
    if (wanted === 'array') return this.#writeList(plain, place, depth)
    if (wanted === 'string') return generateText(plain, place)
    if (wanted === 'integer' || wanted === 'number') return generateNumber(plain, wanted, place)
    return wanted === 'boolean' ? place.index % 2 === 0 : wanted === 'null' ? null : this.#reject()
  }

  #reject(): never {
    throw contradictionError()
  }

  /** Returns the schema merged with its reference and its `allOf`. */
  #flatten(schema: unknown, depth: number): JsonObject {
    for (const value of isJsonObject(schema) ? Object.values(schema) : [])
      this.#steps += (optionalArray(value)?.length ?? Object.keys(Object(value)).length) / MEMBERS_PER_STEP
    this.#steps++
    if (this.#steps > MAX_STEPS || depth > MAX_DEPTH) throw instanceTooLargeError()
    if (schema === true) return {}
    if (schema === false) throw contradictionError()
    if (!isJsonObject(schema)) throw new UnsatisfiableSchemaError('is not a JSON Schema that the sandbox understands')
    const unsupported = UNSUPPORTED_KEYWORDS.find(keyword => keyword in schema)
    if (unsupported)
      throw new UnsatisfiableSchemaError(`has the keyword '${unsupported}', which the sandbox does not support`)
    const { $ref, allOf, ...own } = schema
    const parts = [...($ref === undefined ? [] : [this.#resolve($ref)]), ...(optionalArray(allOf) ?? [])]
    return parts.reduce<JsonObject>((whole, part) => mergeSchemas(whole, this.#flatten(part, depth + 1)), own)
  }

  /** Returns the schema at a `#/…` reference (RFC 6901 in its URI form). */
  #resolve(reference: unknown): unknown {
    const [start, ...steps] = asString(reference).slice(0, 1_000).split('/')
    if (start !== '#') throw new UnsatisfiableSchemaError('has a reference that the sandbox cannot resolve')
    return steps.reduce((found: unknown, step) => {
      const name = decodeURIComponent(step.replace(/%(?![\da-f]{2})/gi, '%25'))
        .replaceAll('~1', '/')
        .replaceAll('~0', '~')
      return Array.isArray(found) ? found[Number(name)] : isJsonObject(found) ? readField(found, name) : undefined
    }, this.#root)
  }

  /** Generates a value for the first alternative that has one. With `isOnly`, the value must not match another alternative. */
  #writeAlternative(list: unknown, rest: JsonObject, place: ValuePosition, depth: number, isOnly = false): unknown {
    const schemas = optionalArray(list) ?? []
    const isNested = (schema: unknown) => Number(isJsonObject(schema) && ('$ref' in schema || 'items' in schema))
    const order = [...schemas.keys()]
    if (depth >= MIN_RECURSION_DEPTH) order.sort((a, b) => isNested(schemas[a]) - isNested(schemas[b]))
    for (const at of order) {
      const written = this.#try(() => [this.write({ ...rest, allOf: [schemas[at]] }, place, depth + 1)])
      if (!written) continue
      const fits = (other: unknown) => canMatchSchema(written[0], this.#try(() => this.#flatten(other, depth)) ?? {})
      if (!isOnly || !schemas.some((other, index) => index !== at && fits(other))) return written[0]
    }
    throw contradictionError()
  }

  #writeObject(flat: JsonObject, { index }: ValuePosition, depth: number): JsonObject {
    const properties = flat.properties ?? {}
    if (!isJsonObject(properties)) throw new UnsatisfiableSchemaError('has properties that are no object')
    const rest = flat.additionalProperties ?? flat.unevaluatedProperties ?? true
    const required = new Set((optionalArray(flat.required) ?? []).map(String))
    const [min, max] = [asNumber(flat.minProperties, 0), asNumber(flat.maxProperties, Infinity)]
    const instance: JsonObject = {}
    let size = required.size
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const write = () => [this.write(readField(properties, name) ?? rest, { name, index }, depth + 1)]
      const isWanted = size < max && (depth < MIN_RECURSION_DEPTH || size < min)
      const written = required.has(name) ? write() : isWanted ? this.#try(write) : undefined
      if (!written) continue
      if (!required.has(name)) size++
      writeField(instance, name, written[0])
    }
    const allowed = flat.propertyNames === undefined ? null : this.#flatten(flat.propertyNames, depth)
    const isNamed =
      !allowed || Object.keys(instance).every(name => !('pattern' in allowed) && canMatchSchema(name, allowed))
    return isNamed && isInRange(size, min, max) ? instance : this.#reject()
  }

  #writeList(flat: JsonObject, { name, index }: ValuePosition, depth: number): unknown[] {
    const first = optionalArray(flat.prefixItems) ?? optionalArray(flat.items) ?? []
    const rest = (Array.isArray(flat.items) ? flat.additionalItems : flat.items) ?? true
    const [min, max] = [asNumber(flat.minItems, 0), asNumber(flat.maxItems, Infinity)]
    const wanted = depth < MIN_RECURSION_DEPTH ? Math.min(first.length || Number(rest !== false), max) : 0
    const items: unknown[] = []
    const known = new Set<string>()
    for (let tries = 0; items.length < Math.max(wanted, min); tries++) {
      const place = { name: `${name} ${tries + 1}`, index: index + tries }
      const write = () => [this.write(first[items.length] ?? rest, place, depth + 1)]
      const written = items.length < min ? write() : this.#try(write)
      if (!written) break
      const text = flat.uniqueItems === true ? JSON.stringify(written[0]) : `${tries}`
      if (!known.has(text)) items.push(written[0])
      known.add(text)
      if (tries > items.length + MAX_ATTEMPTS) throw contradictionError()
    }
    return items.length <= max ? items : this.#reject()
  }

  /** Returns undefined when there is no such value. Throws when the steps are used up. */
  #try<Value>(write: () => Value): Value | undefined {
    try {
      return write()
    } catch (error) {
      if (error instanceof UnsatisfiableSchemaError && this.#steps <= MAX_STEPS) return undefined
      throw error
    }
  }
}
