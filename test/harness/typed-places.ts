/** Every place of a request body that the vendors' packages declare, both values and names. Each is in a minimal body. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, type TSPropertySignature, type TSType, type TSTypeName, Visitor } from 'oxc-parser'

export interface Place {
  /** Such as `messages[].content[].image_url.url`. A name that the client chooses is `{name}`. */
  path: string
  write(text: string): unknown
}

interface Shape {
  properties: readonly TSPropertySignature[]
  extended: readonly string[]
}
type Known = Map<string, Shape | TSType>

/** Deeper places repeat the same types. */
const MOST_LEVELS = 7

/** Google's package declares all types in one file. */
const TYPE_FILES = ['resources/**/*.d.ts', 'node.d.ts']

/** Returns all types of the package's requests by name. */
export function readTypes(packageName: string): Known {
  const folder = dirname(fileURLToPath(import.meta.resolve(packageName)))
  const known: Known = new Map()
  const files = TYPE_FILES.flatMap(pattern => [...new Bun.Glob(pattern).scanSync({ cwd: folder, absolute: true })])
  for (const file of files) {
    const { program } = parseSync(file, readFileSync(file, 'utf8'))
    const add = (name: string, type: Shape | TSType) => known.has(name) || known.set(name, type)
    new Visitor({
      TSInterfaceDeclaration({ id, body, extends: parents }) {
        const properties = body.body.filter(member => member.type === 'TSPropertySignature')
        const extended = parents.map(({ expression }) => nameOf(expression as TSTypeName))
        add(id.name, { properties, extended })
      },
      TSTypeAliasDeclaration({ id, typeAnnotation }) {
        const isSameName = typeAnnotation.type === 'TSTypeReference' && nameOf(typeAnnotation.typeName) === id.name
        if (!isSameName) add(id.name, typeAnnotation)
      },
    }).visit(program)
  }
  return known
}

/** Returns the last part of a qualified name such as `Shared.ReasoningEffort`. */
function nameOf(name: TSTypeName): string {
  if (name.type === 'TSQualifiedName') return name.right.name
  return name.type === 'Identifier' ? name.name : ''
}

export function placesOf(known: Known, name: string): Place[] {
  const places = new Map(walk(known, shapeOf(known, name), []).map(place => [place.path, place]))
  return [...places.values()]
}

function shapeOf(known: Known, name: string): Shape | TSType {
  const type = known.get(name)
  if (!type) throw new Error(`The package has no type ${name}`)
  return type
}

const isShape = (type: Shape | TSType): type is Shape => 'properties' in type

function walk(known: Known, type: Shape | TSType, within: readonly string[]): Place[] {
  if (within.length > MOST_LEVELS) return []
  if (isShape(type)) return walkObject(known, type, within)
  switch (type.type) {
    case 'TSArrayType':
      return inList(walk(known, type.elementType, within))
    case 'TSUnionType':
    case 'TSIntersectionType':
      return type.types.flatMap(each => walk(known, each, within))
    case 'TSParenthesizedType':
      return walk(known, type.typeAnnotation, within)
    case 'TSTypeLiteral': {
      const properties = type.members.filter(member => member.type === 'TSPropertySignature')
      const isMap = type.members.some(member => member.type === 'TSIndexSignature')
      return isMap ? MAP : walkObject(known, { properties, extended: [] }, within)
    }
    case 'TSTypeReference':
      return walkNamed(known, nameOf(type.typeName), type.typeArguments?.params ?? [], within)
    case 'TSUnknownKeyword':
      return [TEXT, ...MAP]
    default:
      return [TEXT]
  }
}

const TEXT: Place = { path: '', write: text => text }
/** The places of a map with names chosen by the client, such as `metadata`. */
const MAP: Place[] = [
  { path: '.{name}', write: name => ({ [name]: 'x' }) },
  { path: '.x', write: text => ({ x: text }) },
]

function walkNamed(known: Known, name: string, given: readonly TSType[], within: readonly string[]): Place[] {
  const [item] = given
  if (name === 'Array' && item) return inList(walk(known, item, within))
  if (name === 'Record') return MAP
  if (within.includes(name)) return []
  const type = known.get(name)
  return type ? walk(known, type, [...within, name]) : [TEXT]
}

const inList = (places: Place[]) =>
  places.map(({ path, write }): Place => ({ path: `[]${path}`, write: text => [write(text)] }))

function walkObject(known: Known, shape: Shape, within: readonly string[]): Place[] {
  const properties = propertiesOf(known, shape)
  const base = sampleObject(known, properties, within)
  const kind = base.type === undefined ? '' : `<${base.type}>`
  const ofProperties = properties.flatMap(property => {
    const name = keyOf(property)
    const type = property.typeAnnotation?.typeAnnotation
    const places = type ? walk(known, type, [...within, '']) : [TEXT]
    return places.map(
      ({ path, write }): Place => ({
        path: `${kind}.${name}${path}`,
        write: text => ({ ...base, [name]: write(text) }),
      }),
    )
  })
  return [{ path: `${kind}.{name}`, write: name => ({ ...base, [name]: 'x' }) }, ...ofProperties]
}

/** Builds the required fields. A literal such as `type: 'function'` identifies the variant. */
function sampleObject(
  known: Known,
  properties: readonly TSPropertySignature[],
  within: readonly string[],
): Record<string, unknown> {
  const needed = properties.filter(({ optional }) => !optional)
  return Object.fromEntries(
    needed.flatMap(property => {
      const type = property.typeAnnotation?.typeAnnotation
      const sample = type ? sampleOf(known, type, within) : undefined
      return sample === undefined ? [] : [[keyOf(property), sample]]
    }),
  )
}

/** Returns a sample of a union's first variant; undefined for a recursive type. */
function sampleOf(known: Known, type: Shape | TSType, within: readonly string[]): unknown {
  if (within.length > MOST_LEVELS) return undefined
  if (isShape(type)) return sampleObject(known, propertiesOf(known, type), [...within, ''])
  switch (type.type) {
    case 'TSLiteralType':
      return type.literal.type === 'Literal' ? type.literal.value : 'x'
    case 'TSUnionType':
      return type.types.map(each => sampleOf(known, each, within)).find(sample => sample !== undefined)
    case 'TSParenthesizedType':
      return sampleOf(known, type.typeAnnotation, within)
    case 'TSArrayType':
      return []
    case 'TSNumberKeyword':
      return 1
    case 'TSBooleanKeyword':
      return false
    case 'TSTypeReference': {
      const name = nameOf(type.typeName)
      const named = known.get(name)
      if (name === 'Array') return []
      return named && !within.includes(name) ? sampleOf(known, named, [...within, name]) : {}
    }
    case 'TSTypeLiteral':
    case 'TSUnknownKeyword':
      return {}
    default:
      return 'x'
  }
}

function propertiesOf(known: Known, { properties, extended }: Shape): TSPropertySignature[] {
  const inherited = extended.flatMap(name => {
    const parent = known.get(name)
    return parent && isShape(parent) ? propertiesOf(known, parent) : []
  })
  return [...inherited, ...properties]
}

function keyOf({ key }: TSPropertySignature): string {
  return key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : ''
}
