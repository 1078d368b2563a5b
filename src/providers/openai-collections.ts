/**
 * What OpenAI keeps for a project with a key of its own, beside files, batches and responses: one row for each collection, which is all that
 * a new one needs. `pipeline/kept-objects/ask-bound.ts` passes it on, bound to the project.
 */
import type { PassThroughRequest } from './upstream.ts'

type Method = PassThroughRequest['method']

/** What a request may do there. */
interface Use {
  /** It makes an object of the collection, which is bound to the project before its client learns the id. */
  makes?: true
  /** It costs what nobody can tell before: where a budget applies it is refused. */
  costs?: true
}

type Part = Readonly<Partial<Record<Method, Use>>>

export interface OpenAiCollectionTraits {
  /** By the path behind the collection's, with `*` for an id. */
  operations: Readonly<Record<string, Part>>
  /** Of what is made without a model; null where none is named. */
  defaultModel: string | null
  /** Whether a model's answers are read there. */
  storesResponses: boolean
}

const FREE: Use = {}
const READ = { GET: FREE }
const DROP = { DELETE: FREE }
const SEND = { POST: FREE }
const PAY = { POST: { costs: true } } as const
const MAKE = { POST: { makes: true } } as const
const MAKE_AND_PAY = { POST: { makes: true, costs: true } } as const

/** By their paths after the base address. */
export const OPENAI_COLLECTIONS = {
  conversations: {
    defaultModel: null,
    storesResponses: true,
    operations: {
      '': MAKE,
      '/*': { ...READ, ...SEND, ...DROP },
      '/*/items': { ...READ, ...SEND },
      '/*/items/*': { ...READ, ...DROP },
    },
  },
  // What is in them costs by the day.
  vector_stores: {
    defaultModel: null,
    storesResponses: false,
    operations: {
      '': { ...READ, ...MAKE_AND_PAY },
      '/*': { ...READ, ...SEND, ...DROP },
      '/*/search': PAY,
      '/*/files': { ...READ, ...PAY },
      '/*/files/*': { ...READ, ...SEND, ...DROP },
      '/*/files/*/content': READ,
      '/*/file_batches': PAY,
      '/*/file_batches/*': READ,
      '/*/file_batches/*/cancel': SEND,
      '/*/file_batches/*/files': READ,
    },
  },
  containers: {
    defaultModel: null,
    storesResponses: false,
    operations: {
      '': { ...READ, ...MAKE_AND_PAY },
      '/*': { ...READ, ...DROP },
      '/*/files': { ...READ, ...SEND },
      '/*/files/*': { ...READ, ...DROP },
      '/*/files/*/content': READ,
    },
  },
  uploads: {
    defaultModel: null,
    storesResponses: false,
    operations: { '': MAKE, '/*/parts': SEND, '/*/complete': SEND, '/*/cancel': SEND },
  },
  videos: {
    defaultModel: 'sora-2',
    storesResponses: false,
    operations: {
      '': { ...READ, ...MAKE_AND_PAY },
      '/*': { ...READ, ...DROP },
      '/*/content': READ,
      '/*/remix': MAKE_AND_PAY,
    },
  },
} as const satisfies Record<string, OpenAiCollectionTraits>

export type OpenAiCollection = keyof typeof OPENAI_COLLECTIONS

export interface OpenAiObjectPath {
  collection: OpenAiCollection
  /** Null for the collection itself. */
  id: string | null
  /** What follows the id, with a leading slash; '' for the object itself. */
  subpath: string
}

const PLACE = new RegExp(
  `^/(${Object.keys(OPENAI_COLLECTIONS).join('|')})(?:/([\\w-]{1,256})((?:/[\\w-]{1,256}){0,3}))?$`,
)

/** What a path behind the base address names; null where it names nothing that is bound. */
export function parseOpenAiObjectPath(path: string): OpenAiObjectPath | null {
  const [, collection, id = null, rest = ''] = PLACE.exec(path) ?? []
  if (collection === undefined) return null
  const place = { collection: collection as OpenAiCollection, id, subpath: rest }
  return Object.hasOwn(OPENAI_COLLECTIONS[place.collection].operations, subpathPatternOf(place)) ? place : null
}

/** The row's own name of the part: every second name in a path is an id. */
export function subpathPatternOf({ id, subpath }: Pick<OpenAiObjectPath, 'id' | 'subpath'>): string {
  if (id === null) return ''
  const names = subpath.split('/').slice(1)
  return ['/*', ...names.map((name, at) => (at % 2 === 0 ? `/${name}` : '/*'))].join('')
}

/** Undefined for a method that the part does not take. */
export function findMethodTraits(place: OpenAiObjectPath, method: Method): Use | undefined {
  return partsOf(place)[method]
}

export function listAllowedMethods(place: OpenAiObjectPath): readonly Method[] {
  return Object.keys(partsOf(place)) as Method[]
}

function partsOf(place: OpenAiObjectPath): Part {
  const parts: Readonly<Record<string, Part>> = OPENAI_COLLECTIONS[place.collection].operations
  return parts[subpathPatternOf(place)] ?? {}
}
