/** Parses a query string as OpenAI's clients write it: lists as `ids[]=a&ids[]=b`, objects as `at[gte]=1`. */
import { invalidRequestError } from '../errors/errors.ts'

/** The types of parameters: `lists` are always lists; `numbers` and `flags` are converted if they look like one; all others are text. */
export interface QueryShape {
  lists?: readonly string[]
  numbers?: readonly string[]
  flags?: readonly string[]
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
    // PostgreSQL's text cannot hold U+0000, so it could not match anything.
    if (text.includes('\0'))
      throw invalidRequestError(
        `The query parameter '${plain ?? outer}' must not contain the character U+0000.`,
        plain ?? outer,
      )
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
