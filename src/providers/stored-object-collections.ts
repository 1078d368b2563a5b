/**
 * Defines the collections of objects that providers store for projects: one row for each. `pipeline/stored-objects/` serves all of them. A new
 * collection needs a row here and, in `pipeline/stored-objects/`, only what no other collection has.
 */
import type { PassThroughRequest } from './upstream.ts'

type Method = PassThroughRequest['method']

/** What a method does at a path of a collection. Without a trait, it is a free request that is forwarded. */
export interface StorageAction {
  /** Lists the project's own objects, in pages of these sizes. The provider's list may include those of other projects. */
  lists?: { default: number; max: number }
  /** Creates an object of the collection. Its value is the request that undoes the creation if the object cannot be recorded. */
  creates?: { method: Method; subpath: string }
  /** Starts a batch. Each of its requests counts, and its cost stays reserved until it has finished. */
  startsBatch?: true
  /** Completes an object whose `file` is then a new object of `files`. */
  createsFile?: true
  /** Counts as a request, and is recorded. */
  isCounted?: true
  /** Has a cost that cannot be estimated in advance. The request is rejected if a budget applies. */
  costs?: true
  /** Returns content of any size, which is relayed unread. */
  isDownload?: true
  /** Returns the results of a batch, which contain its usage and new responses. */
  hasResults?: true
}

type Actions = Readonly<Partial<Record<Method, StorageAction>>>

interface CollectionTraits {
  /** The path after the base address. */
  path: string
  /** The vendor whose API has the collection. It decides the format of lists. */
  api: 'openai' | 'anthropic'
  /**
   * `recorded`: any provider of the API may store the objects. A project has those that it created through the proxy, whose state is
   * recorded. `claimed`: OpenAI stores them under the project's own key. A project has those that it created and those that it named
   * first, query strings are forwarded, and ids in responses are claimed.
   */
  ownership: 'recorded' | 'claimed'
  /** The error for an object that the project does not have. */
  notFound: 'fileNotFound' | 'batchNotFound' | 'responseNotFound' | 'openAiObjectNotFound'
  /** Whether objects contain responses of models, which the hook checks before they are served. */
  containsResponses?: true
  /** The model of an object that is created without one. */
  defaultModel?: string
  /** The actions by the path after the collection's, with `*` for an id. */
  actions: Readonly<Record<string, Actions>>
}

type PageSizes = NonNullable<StorageAction['lists']>

const OPENAI_PAGES = { default: 20, max: 100 }
const ANTHROPIC_PAGES = { default: 20, max: 1_000 }
const BY_DELETION = { method: 'DELETE', subpath: '' } as const
const BY_CANCELLATION = { method: 'POST', subpath: '/cancel' } as const

const list = (lists: PageSizes) => ({ GET: { lists } })
const READ = { GET: {} }
const DELETE = { DELETE: {} }
const DOWNLOAD = { GET: { isDownload: true } } as const
const CANCEL = { POST: {} }
const CHANGE = { POST: { isCounted: true } } as const
const CHANGE_AT_COST = { POST: { isCounted: true, costs: true } } as const
const CREATE = { POST: { creates: BY_DELETION, isCounted: true } } as const
const CREATE_AT_COST = { POST: { creates: BY_DELETION, isCounted: true, costs: true } } as const
const CREATE_BATCH = { POST: { creates: BY_CANCELLATION, startsBatch: true, isCounted: true } } as const

const createFiles = (pages: PageSizes) =>
  ({
    path: '/files',
    ownership: 'recorded',
    notFound: 'fileNotFound',
    actions: { '': { ...list(pages), ...CREATE }, '/*': { ...READ, ...DELETE }, '/*/content': DOWNLOAD },
  }) as const
const BATCHES = { ownership: 'recorded', notFound: 'batchNotFound' } as const
const OPENAI_OBJECTS = { api: 'openai', ownership: 'claimed', notFound: 'openAiObjectNotFound' } as const

/** Of collections with the same path, the first is the one of a client whose vendor is unknown. */
export const STORED_OBJECT_COLLECTIONS = {
  files: { ...createFiles({ default: 10_000, max: 10_000 }), api: 'openai' },
  anthropic_files: { ...createFiles(ANTHROPIC_PAGES), api: 'anthropic' },
  batches: {
    ...BATCHES,
    path: '/batches',
    api: 'openai',
    actions: { '': { ...list(OPENAI_PAGES), ...CREATE_BATCH }, '/*': READ, '/*/cancel': CANCEL },
  },
  message_batches: {
    ...BATCHES,
    path: '/messages/batches',
    api: 'anthropic',
    actions: {
      '': { ...list(ANTHROPIC_PAGES), ...CREATE_BATCH },
      '/*': { ...READ, ...DELETE },
      '/*/cancel': CANCEL,
      '/*/results': { GET: { isDownload: true, hasResults: true } },
    },
  },
  // Some are stored by the proxy. They are created at the endpoint of the same path.
  responses: {
    ...OPENAI_OBJECTS,
    path: '/responses',
    notFound: 'responseNotFound',
    containsResponses: true,
    actions: { '/*': { ...READ, ...DELETE }, '/*/cancel': CANCEL, '/*/input_items': READ },
  },
  conversations: {
    ...OPENAI_OBJECTS,
    path: '/conversations',
    containsResponses: true,
    actions: {
      '': CREATE,
      '/*': { ...READ, ...CHANGE, ...DELETE },
      '/*/items': { ...READ, ...CHANGE },
      '/*/items/*': { ...READ, ...DELETE },
    },
  },
  // OpenAI charges for their contents by the day.
  vector_stores: {
    ...OPENAI_OBJECTS,
    path: '/vector_stores',
    actions: {
      '': { ...list(OPENAI_PAGES), ...CREATE_AT_COST },
      '/*': { ...READ, ...CHANGE, ...DELETE },
      '/*/search': CHANGE_AT_COST,
      '/*/files': { ...READ, ...CHANGE_AT_COST },
      '/*/files/*': { ...READ, ...CHANGE, ...DELETE },
      '/*/files/*/content': DOWNLOAD,
      '/*/file_batches': CHANGE_AT_COST,
      '/*/file_batches/*': READ,
      '/*/file_batches/*/cancel': CHANGE,
      '/*/file_batches/*/files': READ,
    },
  },
  containers: {
    ...OPENAI_OBJECTS,
    path: '/containers',
    actions: {
      '': { ...list(OPENAI_PAGES), ...CREATE_AT_COST },
      '/*': { ...READ, ...DELETE },
      '/*/files': { ...READ, ...CHANGE },
      '/*/files/*': { ...READ, ...DELETE },
      '/*/files/*/content': DOWNLOAD,
    },
  },
  uploads: {
    ...OPENAI_OBJECTS,
    path: '/uploads',
    actions: {
      '': { POST: { creates: BY_CANCELLATION, isCounted: true } },
      '/*/parts': CHANGE,
      '/*/complete': { POST: { isCounted: true, createsFile: true } },
      '/*/cancel': CHANGE,
    },
  },
  videos: {
    ...OPENAI_OBJECTS,
    path: '/videos',
    defaultModel: 'sora-2',
    actions: {
      '': { ...list(OPENAI_PAGES), ...CREATE_AT_COST },
      '/*': { ...READ, ...DELETE },
      '/*/content': DOWNLOAD,
      '/*/remix': CREATE_AT_COST,
    },
  },
} as const satisfies Record<string, CollectionTraits>

export type StoredObjectCollection = keyof typeof STORED_OBJECT_COLLECTIONS

export interface StoredObjectPath {
  collection: StoredObjectCollection
  /** The object's id; null for the collection itself. */
  id: string | null
  /** The path after the id, with a leading slash; '' for the object itself. */
  subpath: string
}

const COLLECTIONS = Object.keys(STORED_OBJECT_COLLECTIONS) as StoredObjectCollection[]
const OBJECT_PATH = new RegExp(
  `^(${COLLECTIONS.map(name => STORED_OBJECT_COLLECTIONS[name].path).join('|')})(?:/([\\w-]{1,256})((?:/[\\w-]{1,256}){0,3}))?$`,
)

export function traitsOf(collection: StoredObjectCollection): CollectionTraits {
  return STORED_OBJECT_COLLECTIONS[collection]
}

/** Parses a path after the base address; null when it belongs to no collection. */
export function parseStoredObjectPath(path: string): StoredObjectPath | null {
  const [, base, id = null, subpath = ''] = OBJECT_PATH.exec(path) ?? []
  const collection = COLLECTIONS.find(name => STORED_OBJECT_COLLECTIONS[name].path === base)
  if (collection === undefined) return null
  return Object.hasOwn(traitsOf(collection).actions, actionPathOf({ id, subpath })) ? { collection, id, subpath } : null
}

/** Returns the collection at the same path that a client of the vendor's API uses. */
export function collectionForVendor(collection: StoredObjectCollection, vendor: string): StoredObjectCollection {
  const { path } = traitsOf(collection)
  return COLLECTIONS.find(name => traitsOf(name).path === path && traitsOf(name).api === vendor) ?? collection
}

/** Returns the path as documented, after the base address, with `{id}` for an id. */
export function routeOfStoredObject(target: StoredObjectPath): string {
  return traitsOf(target.collection).path + actionPathOf(target).replaceAll('*', '{id}')
}

/** Returns the actions of the target's path, by the methods that it allows. */
export function actionsOf(target: StoredObjectPath): Actions {
  return traitsOf(target.collection).actions[actionPathOf(target)] ?? {}
}

/** Returns the path's key in `actions`: every second name in a path is an id. */
function actionPathOf({ id, subpath }: Pick<StoredObjectPath, 'id' | 'subpath'>): string {
  if (id === null) return ''
  const names = subpath.split('/').slice(1)
  return ['/*', ...names.map((name, at) => (at % 2 === 0 ? `/${name}` : '/*'))].join('')
}
