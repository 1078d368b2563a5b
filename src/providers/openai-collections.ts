/**
 * Defines the collections that OpenAI stores for a project with its own key, besides files, batches and responses. A new collection needs one
 * row here. `pipeline/stored-objects/forward-to-storage-provider.ts` forwards the requests and binds the objects to the project.
 */
import type { PassThroughRequest } from './upstream.ts'

type Method = PassThroughRequest['method']

/** The traits of a method on a path of a collection. */
interface MethodTraits {
  /** The request creates an object of the collection. The object is bound to the project before the client learns its id. */
  makes?: true
  /** The request has a cost that cannot be estimated in advance. It is rejected when a budget applies. */
  costs?: true
}

type AllowedMethods = Readonly<Partial<Record<Method, MethodTraits>>>

export interface OpenAiCollectionTraits {
  /** The allowed methods by the path after the collection's, with `*` for an id. */
  operations: Readonly<Record<string, AllowedMethods>>
  /** The model of an object that is created without one; null when the collection's requests name no model. */
  defaultModel: string | null
  /** Whether the collection contains responses of models. */
  storesResponses: boolean
}

const FREE: MethodTraits = {}
const READ = { GET: FREE }
const DELETE = { DELETE: FREE }
const WRITE = { POST: FREE }
const WRITE_AT_COST = { POST: { costs: true } } as const
const CREATE = { POST: { makes: true } } as const
const CREATE_AT_COST = { POST: { makes: true, costs: true } } as const

/** The collections by their paths after the base address. */
export const OPENAI_COLLECTIONS = {
  conversations: {
    defaultModel: null,
    storesResponses: true,
    operations: {
      '': CREATE,
      '/*': { ...READ, ...WRITE, ...DELETE },
      '/*/items': { ...READ, ...WRITE },
      '/*/items/*': { ...READ, ...DELETE },
    },
  },
  // OpenAI charges for their contents by the day.
  vector_stores: {
    defaultModel: null,
    storesResponses: false,
    operations: {
      '': { ...READ, ...CREATE_AT_COST },
      '/*': { ...READ, ...WRITE, ...DELETE },
      '/*/search': WRITE_AT_COST,
      '/*/files': { ...READ, ...WRITE_AT_COST },
      '/*/files/*': { ...READ, ...WRITE, ...DELETE },
      '/*/files/*/content': READ,
      '/*/file_batches': WRITE_AT_COST,
      '/*/file_batches/*': READ,
      '/*/file_batches/*/cancel': WRITE,
      '/*/file_batches/*/files': READ,
    },
  },
  containers: {
    defaultModel: null,
    storesResponses: false,
    operations: {
      '': { ...READ, ...CREATE_AT_COST },
      '/*': { ...READ, ...DELETE },
      '/*/files': { ...READ, ...WRITE },
      '/*/files/*': { ...READ, ...DELETE },
      '/*/files/*/content': READ,
    },
  },
  uploads: {
    defaultModel: null,
    storesResponses: false,
    operations: { '': CREATE, '/*/parts': WRITE, '/*/complete': WRITE, '/*/cancel': WRITE },
  },
  videos: {
    defaultModel: 'sora-2',
    storesResponses: false,
    operations: {
      '': { ...READ, ...CREATE_AT_COST },
      '/*': { ...READ, ...DELETE },
      '/*/content': READ,
      '/*/remix': CREATE_AT_COST,
    },
  },
} as const satisfies Record<string, OpenAiCollectionTraits>

export type OpenAiCollection = keyof typeof OPENAI_COLLECTIONS

export interface OpenAiObjectPath {
  collection: OpenAiCollection
  /** The object's id; null for the collection itself. */
  id: string | null
  /** The path after the id, with a leading slash; '' for the object itself. */
  subpath: string
}

const OBJECT_PATH = new RegExp(
  `^/(${Object.keys(OPENAI_COLLECTIONS).join('|')})(?:/([\\w-]{1,256})((?:/[\\w-]{1,256}){0,3}))?$`,
)

/** Parses a path after the base address; null when it belongs to none of the collections. */
export function parseOpenAiObjectPath(path: string): OpenAiObjectPath | null {
  const [, collection, id = null, subpath = ''] = OBJECT_PATH.exec(path) ?? []
  if (collection === undefined) return null
  const parsed = { collection: collection as OpenAiCollection, id, subpath }
  return Object.hasOwn(OPENAI_COLLECTIONS[parsed.collection].operations, subpathPatternOf(parsed)) ? parsed : null
}

/** Returns the path's key in `operations`: every second name in a path is an id. */
export function subpathPatternOf({ id, subpath }: Pick<OpenAiObjectPath, 'id' | 'subpath'>): string {
  if (id === null) return ''
  const names = subpath.split('/').slice(1)
  return ['/*', ...names.map((name, at) => (at % 2 === 0 ? `/${name}` : '/*'))].join('')
}

/** Returns undefined for a method that is not allowed on the path. */
export function findMethodTraits(path: OpenAiObjectPath, method: Method): MethodTraits | undefined {
  return allowedMethodsOf(path)[method]
}

export function listAllowedMethods(path: OpenAiObjectPath): readonly Method[] {
  return Object.keys(allowedMethodsOf(path)) as Method[]
}

function allowedMethodsOf(path: OpenAiObjectPath): AllowedMethods {
  const operations: Readonly<Record<string, AllowedMethods>> = OPENAI_COLLECTIONS[path.collection].operations
  return operations[subpathPatternOf(path)] ?? {}
}
