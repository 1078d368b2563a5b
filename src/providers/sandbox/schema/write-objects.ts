/** Owns building objects for a schema: which properties, and what each must be. */
import type { JsonObject } from '../../../json/json-object.ts'
import { sizeOfValue } from './json-equals.ts'
import { countOf, type Schema, schemaMapOf, schemaOf, textsMapOf, textsOf } from './keywords.ts'
import { leadsBack, type Maker } from './maker.ts'
import { declaredSchemas, propertySchemas } from './satisfies-object.ts'

interface Plan {
  required: string[]
  optional: string[]
  fewest: number
  most: number
}

/** Objects whose properties satisfy all that is said of them: with all optional ones, with none, then varied. */
export function* writeObjects(parts: JsonObject[], maker: Maker): Generator<JsonObject> {
  const plan = planProperties(parts)
  const narrow = () => fillProperties(parts, { ...plan, optional: [] }, maker)
  const built: JsonObject[] = []
  for (const build of maker.place.compact ? [narrow] : [() => fillProperties(parts, plan, maker), narrow]) {
    const object = build()
    if (object === undefined) return
    yield object
    built.push(object)
  }
  for (const object of built) yield* varyProperties(parts, object, maker)
}

function planProperties(parts: JsonObject[]): Plan {
  const required = new Set(parts.flatMap(part => textsOf(part, 'required')))
  const dependencies = parts.flatMap(part => textsMapOf(part, 'dependentRequired'))
  // A set grows while it is walked: what is required may require more.
  for (const key of required) {
    for (const [trigger, needed] of dependencies) if (trigger === key) for (const other of needed) required.add(other)
  }
  const declared = new Set(parts.flatMap(part => Object.keys(schemaMapOf(part, 'properties'))))
  const triggers = new Set(dependencies.map(([trigger]) => trigger))
  return {
    required: [...new Set([...declared, ...required])].filter(key => required.has(key)),
    optional: [...declared].filter(key => !required.has(key) && !triggers.has(key)),
    fewest: Math.max(0, ...parts.map(part => countOf(part, 'minProperties') ?? 0)),
    most: Math.min(...parts.map(part => countOf(part, 'maxProperties') ?? Infinity)),
  }
}

/** All that is said of a property. */
function propertyParts(parts: JsonObject[], key: string, { shop }: Maker): Schema[] {
  const isDeclared = parts.some(part => declaredSchemas(part, key, shop).length > 0)
  const unevaluated = parts.map(part => schemaOf(part, 'unevaluatedProperties')).filter(schema => schema !== undefined)
  const said = parts.flatMap(part => propertySchemas(part, key, shop))
  return isDeclared ? said : [...said, ...unevaluated]
}

function nameParts(parts: JsonObject[]): Schema[] {
  return parts.map(part => schemaOf(part, 'propertyNames')).filter(schema => schema !== undefined)
}

/** The object with all required properties and those others that can be had; undefined where one is impossible. */
function fillProperties(parts: JsonObject[], plan: Plan, maker: Maker): JsonObject | undefined {
  const { budget } = maker.shop
  const filled = new Map<string, unknown>()
  const names = nameParts(parts)

  const fill = (key: string, said: Schema[]): boolean => {
    budget.spend(1 + key.length / 8)
    const isAllowed = names.length === 0 || !maker.solve([{ const: key }, ...names]).next().done
    const first = isAllowed ? maker.solve(said, { name: key }).next() : undefined
    if (first === undefined || first.done) return false
    filled.set(key, first.value)
    return true
  }

  for (const key of plan.required) if (!fill(key, propertyParts(parts, key, maker))) return undefined
  for (const key of plan.optional) {
    if (filled.size >= plan.most) break
    const said = propertyParts(parts, key, maker)
    if (!said.some(schema => leadsBack(schema, maker.place, maker.shop))) fill(key, said)
  }
  for (const key of spareNames(parts, plan, maker)) {
    if (filled.size >= plan.fewest) break
    if (!filled.has(key)) fill(key, propertyParts(parts, key, maker))
  }
  const isWhole = filled.size >= plan.fewest && filled.size <= plan.most
  return isWhole ? Object.fromEntries(filled) : undefined
}

/** Names for properties that only `minProperties` asks for. */
function* spareNames(parts: JsonObject[], { fewest }: Plan, maker: Maker): Generator<string> {
  for (const part of parts) yield* Object.keys(schemaMapOf(part, 'properties'))
  for (let count = 1; count <= fewest; count++) yield `property_${count}`
  const solveNames = function* (pattern: JsonObject) {
    const change = { variety: fewest + 1, name: 'property' }
    for (const name of maker.solve([{ type: 'string', ...pattern }, ...nameParts(parts)], change)) yield String(name)
  }
  for (const part of parts) {
    for (const pattern of Object.keys(schemaMapOf(part, 'patternProperties'))) yield* solveNames({ pattern })
  }
  yield* solveNames({})
}

/** For those who need another object: the same with one property of another value. */
function* varyProperties(parts: JsonObject[], object: JsonObject, maker: Maker): Generator<JsonObject> {
  const variety = maker.place.variety
  for (const key of Object.keys(object)) {
    let left = variety
    for (const value of maker.solve(propertyParts(parts, key, maker), { name: key })) {
      if (left-- <= 0) break
      maker.shop.budget.spend(sizeOfValue(object) / 8)
      yield { ...object, [key]: value }
    }
  }
}
