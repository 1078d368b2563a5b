/** Calls the functions that bind files and batches, which providers keep, to the projects that created them. */
import type { Database } from './database.ts'
import {
  boolean,
  defineAction,
  defineStatement,
  integer,
  nothing,
  nullable,
  readOne,
  runStatement,
  text,
  texts,
} from './statement.ts'

/** Objects that a provider keeps for a project; Anthropic's have collections of their own. */
export type Collection = 'files' | 'batches' | 'message_batches' | 'anthropic_files'

/** The name of a provider's key that was stored without one. */
export const DEFAULT_KEY = 'default'

export interface ObjectToKeep {
  projectId: number
  id: string
  collection: Collection
  /** Whoever keeps it, as `nameKeeper` writes it. */
  provider: string
  purpose?: string | null
  /** For a batch's input: its number of requests. */
  requests?: number
  /** For a batch's input: its models, if they were read. */
  models?: readonly string[] | null
  /** JSON; null when the provider has not returned it yet. */
  object: string | null
  expiresAt?: Date | null
}

export interface KeptObject {
  id: string
  provider: string
  /** JSON, as its provider last returned it. */
  object: string | null
}

export interface FoundObject extends KeptObject {
  purpose: string | null
  /** For a batch's input: its number of requests. */
  requests: number
  models: string[] | null
}

export interface ObjectPage {
  projectId: number
  collection: Collection
  /** The provider alone that keeps them; null for any. */
  keptBy: string | null
  purpose: string | null
  /** These alone; null for all. */
  ids: readonly string[] | null
  after: string | null
  newestFirst: boolean
  size: number
}

const FIND = defineStatement(
  'select id, provider, purpose, requests, object, models from model_proxy.find_kept_object($1::bigint, $2::text, $3::text)',
  {
    id: text(),
    provider: text(),
    purpose: nullable(text()),
    requests: integer,
    object: nullable(text()),
    models: nullable(texts),
  },
)
const CLAIM = defineStatement('select id from model_proxy.claim_ids($1::bigint, $2::text, $3::boolean, $4::text[])', {
  id: text(),
})
const BIND = defineStatement('select model_proxy.bind_ids($1::bigint, $2::text, $3::text[]) as done', { done: nothing })
const FORGET = defineStatement('select model_proxy.forget_kept_object($1::bigint, $2::text, $3::text) as done', {
  done: nothing,
})
const SETTLE = defineStatement('select model_proxy.settle_batch($1::bigint, $2::text) as is_ours', { is_ours: boolean })
const TAGS = defineStatement('select model_proxy.tags_of_batch($1::bigint, $2::text)::text as tags', {
  tags: nullable(text()),
})
const PAGE = defineStatement(
  `select id, provider, object
  from model_proxy.page_of_kept_objects($1::bigint, $2::text, $3::text, $4::text, $5::text[], $6::text, $7::boolean, $8::integer)`,
  { id: text(), provider: text(), object: nullable(text()) },
)

/** Replaces an object that is known already. */
export const keepObject = defineAction<ObjectToKeep>('keep_object', {
  projectId: 'bigint',
  id: 'text',
  collection: 'text',
  provider: 'text',
  purpose: 'text',
  requests: 'integer',
  object: 'text',
  expiresAt: 'timestamptz',
  models: 'text[]',
})

/** Null when the object belongs to another project. */
export async function findKeptObject(
  database: Database,
  projectId: number,
  collection: Collection,
  id: string,
): Promise<FoundObject | null> {
  const [found = null] = await runStatement(database, FIND, [projectId, collection, id])
  return found
}

/** Returns those ids that the project may not name to the provider. With a key of its own, it binds what nobody has named. */
export async function claimIds(
  database: Database,
  { projectId, provider, isShared, ids }: { projectId: number; provider: string; isShared: boolean; ids: string[] },
): Promise<string[]> {
  return (await runStatement(database, CLAIM, [projectId, provider, isShared, ids])).map(({ id }) => id)
}

/** The provider, and the name of the key that was used: none for DEFAULT_KEY. */
export function nameKeeper(provider: string, key: string | null): string {
  return key === null || key === DEFAULT_KEY ? provider : `${provider}/${key}`
}

const FIND_KEEPERS = defineStatement(
  'select provider from model_proxy.find_keepers($1::bigint, $2::text, $3::text[])',
  {
    provider: text(),
  },
)

/** The name of the key with which most of these objects were made; null where that is not known. */
export async function findKeyOf(
  database: Database,
  { projectId, provider, ids }: { projectId: number; provider: string; ids: string[] },
): Promise<string | null> {
  const [keeper] = await runStatement(database, FIND_KEEPERS, [projectId, provider, ids])
  return keeper ? (keeper.provider.split('/')[1] ?? DEFAULT_KEY) : null
}

/** Binds what the provider has made to the project. `keeper` is as `nameKeeper` writes it. */
export async function bindIds(database: Database, projectId: number, keeper: string, ids: string[]): Promise<void> {
  await runStatement(database, BIND, [projectId, keeper, ids])
}

export async function forgetKeptObject(
  database: Database,
  projectId: number,
  collection: Collection,
  id: string,
): Promise<void> {
  await runStatement(database, FORGET, [projectId, collection, id])
}

/** Notes the tags of the request that started a batch, as JSON. */
export const tagBatch = defineAction<{ projectId: number; id: string; tags: string }>('tag_batch', {
  projectId: 'bigint',
  id: 'text',
  tags: 'text::jsonb',
})

/** Returns the batch's tags, as JSON, to one caller only, who must record its usage; null to all others. */
export async function settleBatch(
  database: Database,
  projectId: number,
  id: string,
): Promise<{ tags: string | null } | null> {
  const { tags } = await readOne(database, TAGS, [projectId, id])
  const { is_ours } = await readOne(database, SETTLE, [projectId, id])
  return is_ours ? { tags } : null
}

export function pageOfKeptObjects(database: Database, page: ObjectPage): Promise<KeptObject[]> {
  const { projectId, collection, keptBy, purpose, ids, after, newestFirst, size } = page
  return runStatement(database, PAGE, [projectId, collection, keptBy, purpose, ids, after, newestFirst, size])
}
