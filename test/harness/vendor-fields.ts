/**
 * Every request field that the vendors' packages declare, read from their types: its place, and a body with another value there. New fields
 * of a newer package are included automatically.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

type JsonBody = Record<string, unknown>

export interface FieldPlace {
  /** The name in error messages, such as `messages[].content[].image_url.url`. */
  name: string
  /** A complete request in which only this field has the given value. */
  bodyWith(value: unknown): JsonBody
}

export interface RequestType {
  package: 'openai' | '@anthropic-ai/sdk'
  /** Paths below the package's `resources`, without their extension. The first file declares the interface. */
  files: readonly string[]
  interface: string
  /** Fields of a request that succeeds. */
  body: JsonBody
}

/** Returns every place of the request. Each interface of the package is visited once, at its shallowest place. */
export function listFields({ package: name, files, interface: root, body }: RequestType): FieldPlace[] {
  const types = readTypes(files.map(file => join(resourcesOf(name), `${file}.d.ts`)))
  const found: FieldPlace[] = []
  const seen = new Set<string>()
  const waiting: (() => void)[] = []

  function walk(type: string, scope: string, at: string, put: (value: unknown) => JsonBody): void {
    for (const each of splitUnion(type)) {
      const item = itemOf(each)
      if (item !== null) walk(item, scope, `${at}[]`, value => put([value]))
      const known = types.find(each, scope)
      if (!known || seen.has(known.name)) continue
      seen.add(known.name)
      if (known.kind === 'alias') walk(known.text, known.name, at, put)
      else waiting.push(() => walkFields(known.name, at, put))
    }
  }

  function walkFields(name: string, at: string, put: (value: unknown) => JsonBody): void {
    const whole = at === '' ? body : types.sample(name)
    for (const { field, type, scope } of types.fieldsOf(name)) {
      const bodyWith = (value: unknown) => put({ ...whole, [field]: value })
      const place = at === '' ? field : `${at}.${field}`
      // Required sibling fields are included.
      found.push({ name: place, bodyWith: value => ({ ...body, ...bodyWith(value) }) })
      walk(type, scope, place, bodyWith)
    }
  }

  walk(root, '', '', value => value as JsonBody)
  for (let next = waiting.shift(); next; next = waiting.shift()) next()
  return found
}

function resourcesOf(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'resources')
}

interface Declared {
  kind: 'interface' | 'alias'
  /** The qualified name, with its namespaces. */
  name: string
  /** The types after `extends`. */
  bases: string[]
  text: string
}

interface Field {
  field: string
  isRequired: boolean
  type: string
  /** The namespace in which the names in its type are resolved. */
  scope: string
}

function readTypes(paths: readonly string[]) {
  const declared = new Map<string, Declared>()
  for (const path of paths) {
    const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    readDeclarations(text, '', declared)
  }

  /** Resolves a name in the enclosing namespaces. A member of a namespace import is found by its last part. */
  function find(type: string, scope: string): Declared | undefined {
    const [name = ''] = /^[A-Z][\w.]*/.exec(type) ?? []
    if (name === '') return undefined
    for (let around = scope; ; around = around.replace(/\.?\w+$/, '')) {
      const known = declared.get(around === '' ? name : `${around}.${name}`)
      if (known) return known
      if (around === '') return name.includes('.') ? find(name.replace(/^\w+\./, ''), '') : undefined
    }
  }

  function fieldsOf(name: string): Field[] {
    const { text = '', bases = [] } = declared.get(name) ?? {}
    const inherited = bases.flatMap(base => fieldsOf(find(base, name)?.name ?? ''))
    const own = splitTop(text, ';').flatMap((line): Field[] => {
      const [, field, optional, type] = /^\s*(?:readonly )?'?(\w+)'?(\??):\s*([\s\S]+)$/.exec(line) ?? []
      return field === undefined || type === undefined
        ? []
        : [{ field, isRequired: optional === '', type, scope: name }]
    })
    return [...inherited, ...own]
  }

  /** Builds a sample with its required fields. */
  function sample(name: string, depth = 0): JsonBody {
    const needed = fieldsOf(name).filter(({ isRequired }) => isRequired)
    return Object.fromEntries(needed.map(({ field, type, scope }) => [field, sampleOf(type, scope, depth + 1)]))
  }

  function sampleOf(type: string, scope: string, depth: number): unknown {
    const [first = ''] = splitUnion(type)
    if (/^'/.test(first)) return first.slice(1, -1)
    if (itemOf(first) !== null || depth > 6) return []
    const known = find(first, scope)
    if (known) return known.kind === 'alias' ? sampleOf(known.text, known.name, depth + 1) : sample(known.name, depth)
    return PRIMITIVES[first] ?? (first.startsWith('{') ? {} : 'x')
  }

  return { find, fieldsOf, sample: (name: string) => sample(name) }
}

const PRIMITIVES: Record<string, unknown> = {
  string: 'x',
  number: 1,
  boolean: false,
  true: true,
  false: false,
  unknown: {},
}

const DECLARATION = /(?:export |declare )*(namespace|interface|type) (\w+)(?:<[^>{]*>)?\s*(?:extends ([^{]+))?([={])/g

function readDeclarations(text: string, within: string, declared: Map<string, Declared>): void {
  const pattern = new RegExp(DECLARATION)
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [, word, own = '', bases = ''] = match
    const name = within === '' ? own : `${within}.${own}`
    const start = pattern.lastIndex
    const end = endOf(text, start, word === 'type' ? ';' : '}')
    const inside = text.slice(start, end)
    pattern.lastIndex = end + 1
    if (word === 'namespace') readDeclarations(inside, name, declared)
    else if (!declared.has(name)) {
      const kind = word === 'type' ? 'alias' : 'interface'
      declared.set(name, { kind, name, bases: splitTop(bases, ','), text: inside })
    }
  }
}

/** Returns the position of this character outside of brackets and strings. */
function endOf(text: string, start: number, mark: string): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ''
    if (depth === 0 && character === mark) return at
    if (character === "'") at = text.indexOf("'", at + 1)
    else if ('{(<['.includes(character)) depth++
    else if ('})>]'.includes(character) && text[at - 1] !== '=') depth--
  }
  return text.length
}

function splitTop(text: string, mark: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at, mark)
    parts.push(text.slice(at, end).trim())
    at = end + 1
  }
  return parts.filter(part => part !== '')
}

function splitUnion(type: string): string[] {
  return splitTop(type, '|').filter(each => each !== 'null')
}

/** Returns the item type of a list type, or null. */
function itemOf(type: string): string | null {
  const [, item = null] = /^Array<([\s\S]+)>$/.exec(type) ?? []
  return item ?? (type.endsWith('[]') ? type.slice(0, -2).replace(/^\(([\s\S]*)\)$/, '$1') : null)
}
