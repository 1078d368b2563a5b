/** Parses a query string as OpenAI's clients write it: lists as `ids[]=a&ids[]=b`, objects as `at[gte]=1`. */

import type { TSchema } from '@sinclair/typebox'

/** The types of parameters: `lists` are always lists; `numbers` and `flags` are converted if they look like one; all others are text. */
export interface QueryShape {
  lists?: readonly string[]
  numbers?: readonly string[]
  flags?: readonly string[]
}

/** Returns the types of the parameters of several schemas, in which a name has the same type. */
export function queryShapeOf(schemas: readonly (TSchema | undefined)[]): QueryShape {
  const parameters: [string, TSchema][] = schemas.flatMap(schema => Object.entries(schema?.properties ?? {}))
  // The values of an object have one type.
  const types = parameters.map(([name, { type, properties }]) => [
    name,
    type === 'object' ? (Object.values(properties) as TSchema[])[0]?.type : type,
  ])
  const namesOf = (...wanted: string[]) => types.flatMap(([name, type]) => (wanted.includes(type) ? [name] : []))
  return { lists: namesOf('array'), numbers: namesOf('integer', 'number'), flags: namesOf('boolean') }
}

type Value = string | number | boolean | Value[] | { [key: string]: Value }

const NAME = /^([a-z_]+)(\[\])?$|^([a-z]+(?:_[a-z]+)*)\[([a-z]+)\]$/

export function readQuery(url: string, { lists = [], numbers = [], flags = [] }: QueryShape): Record<string, Value> {
  // A Map, because a parameter named __proto__ would set an object's prototype.
  const parameters = new Map<string, Value>()
  const start = url.indexOf('?')
  if (start < 0) return {}
  const convert = (name: string, text: string): Value => {
    if (numbers.includes(name) && /^-?\d{1,15}$/.test(text)) return Number(text)
    if (flags.includes(name) && (text === 'true' || text === 'false')) return text === 'true'
    return text
  }
  for (const [given, text] of new URLSearchParams(url.slice(start + 1))) {
    const [, plain, , outer, inner] = NAME.exec(given) ?? ['', given]
    if (outer !== undefined && inner !== undefined) {
      const object = parameters.get(outer)
      const known = typeof object === 'object' && !Array.isArray(object) ? object : {}
      parameters.set(outer, { ...known, [inner]: convert(outer, text) })
      continue
    }
    const name = plain ?? given
    const value = convert(name, text)
    const before = parameters.get(name)
    parameters.set(name, lists.includes(name) ? [...(Array.isArray(before) ? before : []), value] : value)
  }
  return Object.fromEntries(parameters)
}
