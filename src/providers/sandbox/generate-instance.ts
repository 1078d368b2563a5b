/** JSON that satisfies a schema, within a fixed amount of work. Keywords whose fulfilment it cannot promise are refused by name. */
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

const LONGEST_SCHEMA_CHARS = 262_144
const LONGEST_INSTANCE_CHARS = 131_072
/** Values written, and schemas read for them; a schema of many members counts as several. */
const MOST_STEPS = 10_000
const MEMBERS_PER_STEP = 64
const DEEPEST = 40
/** Below this, optional parts are left out, and alternatives that end are preferred: recursion ends. */
const SHALLOW = 6
/** Items tried until one differs from those before it. */
const MOST_TRIES = 200

const UNPROMISED = [
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
 * Returns the JSON text of an instance (JSON Schema 2020-12, and draft 7's tuples); with `mustBeObject`, of an object. The same schema
 * always gives the same text. Throws a 400 naming `param` where it finds none.
 */
export function generateInstance(schema: unknown, param: string, mustBeObject = false): string {
  try {
    if (JSON.stringify(schema).length > LONGEST_SCHEMA_CHARS)
      throw new UnsatisfiableSchemaError(`is longer than the ${LONGEST_SCHEMA_CHARS} characters that the sandbox takes`)
    const whole = mustBeObject ? { allOf: [schema], type: 'object' } : schema
    const text = JSON.stringify(new Writer(schema).write(whole, { name: 'value', index: 0 }, 0))
    if (text.length <= LONGEST_INSTANCE_CHARS) return text
    throw instanceTooLargeError()
  } catch (error) {
    if (error instanceof UnsatisfiableSchemaError)
      throw invalidRequestError(`The schema in '${param}' ${error.message}.`, param)
    throw error
  }
}

class Writer {
  readonly #root: unknown
  #steps = 0

  /** References are looked up in `root`. */
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
    if (members) return members.length > 0 ? members[place.index % members.length] : this.#refuse()
    const types = schemaTypesOf(plain)
    const wanted = types.find(type => type !== 'null') ?? types[0]
    if (wanted === 'object') return this.#writeObject(plain, place, depth)
    if (wanted === 'array') return this.#writeList(plain, place, depth)
    if (wanted === 'string') return generateText(plain, place)
    if (wanted === 'integer' || wanted === 'number') return generateNumber(plain, wanted, place)
    return wanted === 'boolean' ? place.index % 2 === 0 : wanted === 'null' ? null : this.#refuse()
  }

  #refuse(): never {
    throw contradictionError()
  }

  /** The schema with references and `allOf` put in their place. */
  #flatten(schema: unknown, depth: number): JsonObject {
    for (const value of isJsonObject(schema) ? Object.values(schema) : [])
      this.#steps += (optionalArray(value)?.length ?? Object.keys(Object(value)).length) / MEMBERS_PER_STEP
    this.#steps++
    if (this.#steps > MOST_STEPS || depth > DEEPEST) throw instanceTooLargeError()
    if (schema === true) return {}
    if (schema === false) throw contradictionError()
    if (!isJsonObject(schema)) throw new UnsatisfiableSchemaError('is not a JSON Schema that the sandbox understands')
    const unpromised = UNPROMISED.find(keyword => keyword in schema)
    if (unpromised)
      throw new UnsatisfiableSchemaError(`has the keyword '${unpromised}', which the sandbox cannot promise to satisfy`)
    const { $ref, allOf, ...own } = schema
    const parts = [...($ref === undefined ? [] : [this.#resolve($ref)]), ...(optionalArray(allOf) ?? [])]
    return parts.reduce<JsonObject>((whole, part) => mergeSchemas(whole, this.#flatten(part, depth + 1)), own)
  }

  /** The schema at a `#/…` reference: RFC 6901 in its URI form. */
  #resolve(reference: unknown): unknown {
    const [start, ...steps] = asString(reference).slice(0, 1_000).split('/')
    if (start !== '#') throw new UnsatisfiableSchemaError('refers to what the sandbox cannot look up')
    return steps.reduce((found: unknown, step) => {
      const name = decodeURIComponent(step.replace(/%(?![\da-f]{2})/gi, '%25'))
        .replaceAll('~1', '/')
        .replaceAll('~0', '~')
      return Array.isArray(found) ? found[Number(name)] : isJsonObject(found) ? readField(found, name) : undefined
    }, this.#root)
  }

  /** With `isOnly`, the value must fit none of the other alternatives. */
  #writeAlternative(list: unknown, rest: JsonObject, place: ValuePosition, depth: number, isOnly = false): unknown {
    const schemas = optionalArray(list) ?? []
    const isNested = (schema: unknown) => Number(isJsonObject(schema) && ('$ref' in schema || 'items' in schema))
    const order = [...schemas.keys()]
    if (depth >= SHALLOW) order.sort((a, b) => isNested(schemas[a]) - isNested(schemas[b]))
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
    const [least, most] = [asNumber(flat.minProperties, 0), asNumber(flat.maxProperties, Infinity)]
    const instance: JsonObject = {}
    let size = required.size
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const write = () => [this.write(readField(properties, name) ?? rest, { name, index }, depth + 1)]
      const isWanted = size < most && (depth < SHALLOW || size < least)
      const written = required.has(name) ? write() : isWanted ? this.#try(write) : undefined
      if (!written) continue
      if (!required.has(name)) size++
      writeField(instance, name, written[0])
    }
    const allowed = flat.propertyNames === undefined ? null : this.#flatten(flat.propertyNames, depth)
    const isNamed =
      !allowed || Object.keys(instance).every(name => !('pattern' in allowed) && canMatchSchema(name, allowed))
    return isNamed && isInRange(size, least, most) ? instance : this.#refuse()
  }

  #writeList(flat: JsonObject, { name, index }: ValuePosition, depth: number): unknown[] {
    const first = optionalArray(flat.prefixItems) ?? optionalArray(flat.items) ?? []
    const rest = (Array.isArray(flat.items) ? flat.additionalItems : flat.items) ?? true
    const [least, most] = [asNumber(flat.minItems, 0), asNumber(flat.maxItems, Infinity)]
    const wanted = depth < SHALLOW ? Math.min(first.length || Number(rest !== false), most) : 0
    const items: unknown[] = []
    const known = new Set<string>()
    for (let tries = 0; items.length < Math.max(wanted, least); tries++) {
      const place = { name: `${name} ${tries + 1}`, index: index + tries }
      const write = () => [this.write(first[items.length] ?? rest, place, depth + 1)]
      const written = items.length < least ? write() : this.#try(write)
      if (!written) break
      const text = flat.uniqueItems === true ? JSON.stringify(written[0]) : `${tries}`
      if (!known.has(text)) items.push(written[0])
      known.add(text)
      if (tries > items.length + MOST_TRIES) throw contradictionError()
    }
    return items.length <= most ? items : this.#refuse()
  }

  /** Undefined where there is no such value; throws when the work is used up. */
  #try<Value>(write: () => Value): Value | undefined {
    try {
      return write()
    } catch (error) {
      if (error instanceof UnsatisfiableSchemaError && this.#steps <= MOST_STEPS) return undefined
      throw error
    }
  }
}
