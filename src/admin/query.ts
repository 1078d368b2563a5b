/** Reads an address's query as OpenAI's clients write it: lists as `ids[]=a&ids[]=b`, objects as `at[gte]=1`. */

/** Values that may be lists are always lists; the rest is text, or numbers where they look like one and `numbers` names them. */
export interface QueryShape {
  lists?: readonly string[]
  numbers?: readonly string[]
  flags?: readonly string[]
}

type Value = string | number | boolean | Value[] | { [key: string]: Value }

const NAME = /^([a-z_]+)(\[\])?$|^([a-z]+(?:_[a-z]+)*)\[([a-z]+)\]$/

export function readQuery(url: string, { lists = [], numbers = [], flags = [] }: QueryShape): Record<string, Value> {
  // Not an object yet: a name such as __proto__ would be its prototype.
  const read = new Map<string, Value>()
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
      const object = read.get(outer)
      const known = typeof object === 'object' && !Array.isArray(object) ? object : {}
      read.set(outer, { ...known, [inner]: convert(outer, text) })
      continue
    }
    const name = plain ?? given
    const value = convert(name, text)
    const before = read.get(name)
    read.set(name, lists.includes(name) ? [...(Array.isArray(before) ? before : []), value] : value)
  }
  return Object.fromEntries(read)
}
