/** JSON that satisfies a schema, within a fixed amount of work. Keywords whose fulfilment it cannot promise are refused by name. */
import { invalidRequest } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, numberOf, readField, textOf, writeField } from '../../formats/json/canonical.ts'
import {
  canBe,
  contradicts,
  isBetween,
  listOf,
  mustBe,
  tooLarge,
  typesOf,
  Unsatisfiable,
  unite,
} from './schema-rules.ts'
import { type Place, writeNumber, writeText } from './write-scalar.ts'

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
export function writeInstance(schema: unknown, param: string, mustBeObject = false): string {
  try {
    if (JSON.stringify(schema).length > LONGEST_SCHEMA_CHARS)
      throw new Unsatisfiable(`is longer than the ${LONGEST_SCHEMA_CHARS} characters that the sandbox takes`)
    const whole = mustBeObject ? { allOf: [schema], type: 'object' } : schema
    const text = JSON.stringify(new Writer(schema).write(whole, { name: 'value', nth: 0 }, 0))
    if (text.length <= LONGEST_INSTANCE_CHARS) return text
    throw tooLarge()
  } catch (error) {
    if (error instanceof Unsatisfiable) throw invalidRequest(`The schema in '${param}' ${error.message}.`, param)
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

  write(schema: unknown, place: Place, depth: number): unknown {
    const { anyOf, oneOf, ...plain } = this.#flatten(schema, depth)
    if (anyOf !== undefined)
      return this.#writeAlternative(anyOf, { ...plain, ...(oneOf ? { oneOf } : {}) }, place, depth)
    if (oneOf !== undefined) return this.#writeAlternative(oneOf, plain, place, depth, true)
    const members = ('const' in plain ? [plain.const] : listOf(plain.enum))?.filter(member => mustBe(member, plain))
    if (members) return members.length > 0 ? members[place.nth % members.length] : this.#refuse()
    const types = typesOf(plain)
    const wanted = types.find(type => type !== 'null') ?? types[0]
    if (wanted === 'object') return this.#writeObject(plain, place, depth)
    if (wanted === 'array') return this.#writeList(plain, place, depth)
    if (wanted === 'string') return writeText(plain, place)
    if (wanted === 'integer' || wanted === 'number') return writeNumber(plain, wanted, place)
    return wanted === 'boolean' ? place.nth % 2 === 0 : wanted === 'null' ? null : this.#refuse()
  }

  #refuse(): never {
    throw contradicts()
  }

  /** The schema with references and `allOf` put in their place. */
  #flatten(schema: unknown, depth: number): JsonObject {
    for (const value of isJsonObject(schema) ? Object.values(schema) : [])
      this.#steps += (listOf(value)?.length ?? Object.keys(Object(value)).length) / MEMBERS_PER_STEP
    this.#steps++
    if (this.#steps > MOST_STEPS || depth > DEEPEST) throw tooLarge()
    if (schema === true) return {}
    if (schema === false) throw contradicts()
    if (!isJsonObject(schema)) throw new Unsatisfiable('is not a JSON Schema that the sandbox understands')
    const unpromised = UNPROMISED.find(keyword => keyword in schema)
    if (unpromised)
      throw new Unsatisfiable(`has the keyword '${unpromised}', which the sandbox cannot promise to satisfy`)
    const { $ref, allOf, ...own } = schema
    const parts = [...($ref === undefined ? [] : [this.#resolve($ref)]), ...(listOf(allOf) ?? [])]
    return parts.reduce<JsonObject>((whole, part) => unite(whole, this.#flatten(part, depth + 1)), own)
  }

  /** The schema at a `#/…` reference: RFC 6901 in its URI form. */
  #resolve(reference: unknown): unknown {
    const [start, ...steps] = textOf(reference).slice(0, 1_000).split('/')
    if (start !== '#') throw new Unsatisfiable('refers to what the sandbox cannot look up')
    return steps.reduce((found: unknown, step) => {
      const name = decodeURIComponent(step.replace(/%(?![\da-f]{2})/gi, '%25'))
        .replaceAll('~1', '/')
        .replaceAll('~0', '~')
      return Array.isArray(found) ? found[Number(name)] : isJsonObject(found) ? readField(found, name) : undefined
    }, this.#root)
  }

  /** With `isOnly`, the value must fit none of the other alternatives. */
  #writeAlternative(list: unknown, rest: JsonObject, place: Place, depth: number, isOnly = false): unknown {
    const schemas = listOf(list) ?? []
    const isNested = (schema: unknown) => Number(isJsonObject(schema) && ('$ref' in schema || 'items' in schema))
    const order = [...schemas.keys()]
    if (depth >= SHALLOW) order.sort((a, b) => isNested(schemas[a]) - isNested(schemas[b]))
    for (const at of order) {
      const written = this.#try(() => [this.write({ ...rest, allOf: [schemas[at]] }, place, depth + 1)])
      if (!written) continue
      const fits = (other: unknown) => canBe(written[0], this.#try(() => this.#flatten(other, depth)) ?? {})
      if (!isOnly || !schemas.some((other, index) => index !== at && fits(other))) return written[0]
    }
    throw contradicts()
  }

  #writeObject(flat: JsonObject, { nth }: Place, depth: number): JsonObject {
    const properties = flat.properties ?? {}
    if (!isJsonObject(properties)) throw new Unsatisfiable('has properties that are no object')
    const rest = flat.additionalProperties ?? flat.unevaluatedProperties ?? true
    const required = new Set((listOf(flat.required) ?? []).map(String))
    const [least, most] = [numberOf(flat.minProperties, 0), numberOf(flat.maxProperties, Infinity)]
    const instance: JsonObject = {}
    let size = required.size
    for (const name of new Set([...Object.keys(properties), ...required])) {
      const write = () => [this.write(readField(properties, name) ?? rest, { name, nth }, depth + 1)]
      const isWanted = size < most && (depth < SHALLOW || size < least)
      const written = required.has(name) ? write() : isWanted ? this.#try(write) : undefined
      if (!written) continue
      if (!required.has(name)) size++
      writeField(instance, name, written[0])
    }
    const allowed = flat.propertyNames === undefined ? null : this.#flatten(flat.propertyNames, depth)
    const isNamed = !allowed || Object.keys(instance).every(name => !('pattern' in allowed) && canBe(name, allowed))
    return isNamed && isBetween(size, least, most) ? instance : this.#refuse()
  }

  #writeList(flat: JsonObject, { name, nth }: Place, depth: number): unknown[] {
    const first = listOf(flat.prefixItems) ?? listOf(flat.items) ?? []
    const rest = (Array.isArray(flat.items) ? flat.additionalItems : flat.items) ?? true
    const [least, most] = [numberOf(flat.minItems, 0), numberOf(flat.maxItems, Infinity)]
    const wanted = depth < SHALLOW ? Math.min(first.length || Number(rest !== false), most) : 0
    const items: unknown[] = []
    const known = new Set<string>()
    for (let tries = 0; items.length < Math.max(wanted, least); tries++) {
      const place = { name: `${name} ${tries + 1}`, nth: nth + tries }
      const write = () => [this.write(first[items.length] ?? rest, place, depth + 1)]
      const written = items.length < least ? write() : this.#try(write)
      if (!written) break
      const text = flat.uniqueItems === true ? JSON.stringify(written[0]) : `${tries}`
      if (!known.has(text)) items.push(written[0])
      known.add(text)
      if (tries > items.length + MOST_TRIES) throw contradicts()
    }
    return items.length <= most ? items : this.#refuse()
  }

  /** Undefined where there is no such value; throws when the work is used up. */
  #try<Value>(write: () => Value): Value | undefined {
    try {
      return write()
    } catch (error) {
      if (error instanceof Unsatisfiable && this.#steps <= MOST_STEPS) return undefined
      throw error
    }
  }
}
