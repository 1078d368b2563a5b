/** Owns JSON's types as schemas name them. */
import { isJsonObject, type JsonObject } from '../../../json/json-object.ts'
import { SchemaError } from './budget.ts'

export type TypeName = 'string' | 'integer' | 'number' | 'object' | 'array' | 'boolean' | 'null'

/** In the order in which a value is easiest to write and still says something. */
const ALL_TYPES: TypeName[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']

/** Keywords that say nothing of other types, so that a schema with them and no `type` most likely means theirs. */
const KEYWORDS_OF_TYPE: Partial<Record<TypeName, string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames', 'minProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
}

const isTypeName = (name: unknown): name is TypeName => ALL_TYPES.some(type => type === name)

/** The types a schema's `type` names; undefined where it names none. */
export function declaredTypes(part: JsonObject): TypeName[] | undefined {
  if (part.type === undefined) return undefined
  const names = Array.isArray(part.type) ? part.type : [part.type]
  if (names.length > 0 && names.every(isTypeName)) return names
  throw new SchemaError("has a 'type' that is not one of JSON's types or a list of them")
}

/** The types that all parts allow, the likeliest first. */
export function allowedTypes(parts: JsonObject[]): TypeName[] {
  const declared = new Set(parts.flatMap(part => declaredTypes(part) ?? []))
  const wanted = declared.size > 0 ? [...declared] : [...impliedTypes(parts), ...ALL_TYPES]
  const common = new Set(wanted.filter(type => parts.every(part => allowsType(part, type))))
  // A null says little: last, where there is a choice.
  return [...common].sort((one, other) => Number(one === 'null') - Number(other === 'null'))
}

/** Whether a value is of a type, as JSON Schema has it: a whole number is an integer and a number. */
export function isOfType(value: unknown, type: TypeName): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function allowsType(part: JsonObject, type: TypeName): boolean {
  const declared = declaredTypes(part)
  return declared === undefined || declared.includes(type) || (type === 'integer' && declared.includes('number'))
}

function impliedTypes(parts: JsonObject[]): TypeName[] {
  return ALL_TYPES.filter(type => KEYWORDS_OF_TYPE[type]?.some(keyword => parts.some(part => keyword in part)))
}
