/**
 * What OpenAI keeps for a project with a key of its own, beside files, batches and responses: one row for each collection, which is all that
 * a new one needs. `pipeline/kept-objects/ask-bound.ts` passes it on, bound to the project.
 */
import type { PassedRequest } from './upstream.ts'

type Method = PassedRequest['method']

/** What a request may do there. */
interface Use {
  /** It makes an object of the collection, which is bound to the project before its client learns the id. */
  makes?: true
  /** It costs what nobody can tell before: where a budget applies it is refused. */
  costs?: true
}

type Part = Readonly<Partial<Record<Method, Use>>>

export interface BoundTraits {
  /** By the path behind the collection's, with `*` for an id. */
  parts: Readonly<Record<string, Part>>
  /** Of what is made without a model; null where none is named. */
  defaultModel: string | null
  /** Whether a model's answers are read there. */
  holdsAnswers: boolean
}

const FREE: Use = {}
const READ = { GET: FREE }
const DROP = { DELETE: FREE }
const SEND = { POST: FREE }
const PAY = { POST: { costs: true } } as const
const MAKE = { POST: { makes: true } } as const
const MAKE_AND_PAY = { POST: { makes: true, costs: true } } as const

/** By their paths after the base address. */
export const BOUND = {
  conversations: {
    defaultModel: null,
    holdsAnswers: true,
    parts: {
      '': MAKE,
      '/*': { ...READ, ...SEND, ...DROP },
      '/*/items': { ...READ, ...SEND },
      '/*/items/*': { ...READ, ...DROP },
    },
  },
  // What is in them costs by the day.
  vector_stores: {
    defaultModel: null,
    holdsAnswers: false,
    parts: {
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
    holdsAnswers: false,
    parts: {
      '': { ...READ, ...MAKE_AND_PAY },
      '/*': { ...READ, ...DROP },
      '/*/files': { ...READ, ...SEND },
      '/*/files/*': { ...READ, ...DROP },
      '/*/files/*/content': READ,
    },
  },
  uploads: {
    defaultModel: null,
    holdsAnswers: false,
    parts: { '': MAKE, '/*/parts': SEND, '/*/complete': SEND, '/*/cancel': SEND },
  },
  videos: {
    defaultModel: 'sora-2',
    holdsAnswers: false,
    parts: {
      '': { ...READ, ...MAKE_AND_PAY },
      '/*': { ...READ, ...DROP },
      '/*/content': READ,
      '/*/remix': MAKE_AND_PAY,
    },
  },
} as const satisfies Record<string, BoundTraits>

export type BoundCollection = keyof typeof BOUND

export interface BoundPlace {
  collection: BoundCollection
  /** Null for the collection itself. */
  id: string | null
  /** What follows the id, with a leading slash; '' for the object itself. */
  rest: string
}

const PLACE = new RegExp(`^/(${Object.keys(BOUND).join('|')})(?:/([\\w-]{1,256})((?:/[\\w-]{1,256}){0,3}))?$`)

/** What a path behind the base address names; null where it names nothing that is bound. */
export function readBound(path: string): BoundPlace | null {
  const [, collection, id = null, rest = ''] = PLACE.exec(path) ?? []
  if (collection === undefined) return null
  const place = { collection: collection as BoundCollection, id, rest }
  return Object.hasOwn(BOUND[place.collection].parts, partOf(place)) ? place : null
}

/** The row's own name of the part: every second name in a path is an id. */
export function partOf({ id, rest }: Pick<BoundPlace, 'id' | 'rest'>): string {
  if (id === null) return ''
  const names = rest.split('/').slice(1)
  return ['/*', ...names.map((name, at) => (at % 2 === 0 ? `/${name}` : '/*'))].join('')
}

/** Undefined for a method that the part does not take. */
export function useOf(place: BoundPlace, method: Method): Use | undefined {
  return partsOf(place)[method]
}

export function boundMethods(place: BoundPlace): readonly Method[] {
  return Object.keys(partsOf(place)) as Method[]
}

function partsOf(place: BoundPlace): Part {
  const parts: Readonly<Record<string, Part>> = BOUND[place.collection].parts
  return parts[partOf(place)] ?? {}
}
