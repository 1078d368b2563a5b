/**
 * Passes on what is asked about objects that OpenAI keeps under a project's own key (`providers/bound-objects.ts`): each belongs to the
 * project that made it through the proxy or, if it was made elsewhere, that named it first.
 */
import { createError, ProxyError } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { findStoredObjectReferences, type StoredObjectReference } from '../../formats/stored-object-references.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { callFunction } from '../../postgres/call.ts'
import { storageProviderName } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { checkAllowedModels } from '../../providers/model-router.ts'
import { findMethodTraits, OPENAI_COLLECTIONS, type OpenAiCollection } from '../../providers/openai-collections.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughBody, Provider, UpstreamResponse } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkQueryString, checkStoredObjectBody, checkStoredResponse } from '../hook-checks/check-stored-objects.ts'
import { canReference, checkReferences } from '../ownership/check-references.ts'
import { claimIdsInBody } from '../ownership/claim-ids.ts'
import type { PipelineTarget, ProxyRequest, ProxyResponse } from '../request/request.ts'
import { readTags } from '../request/tags.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { createMissHeaders } from '../response/response-headers.ts'
import { applyCost } from '../spending/pass-through-usage.ts'
import { createDisconnectSignal, passThroughTo } from './forward-object-request.ts'
import { listStoredObjects } from './list-objects.ts'
import { describeObject } from './record-object-state.ts'

type BoundTarget = Extract<PipelineTarget, { kind: 'bound' }>
type Context = Pick<RequestContext, 'request' | 'resolvedKey' | 'recorder' | 'query' | 'provider'>

const NOT_PRICED = 'model_not_priced'
/** OpenAI's page sizes. */
const PAGE = { usual: 20, most: 100 }
/** Fields with the client's own names. */
const OPAQUE = new Set(['metadata', 'attributes', 'filters'])

/** Throws 400, 404, 429, 502 to 504. */
export async function forwardToStorageProvider(
  context: RequestContext,
  target: BoundTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { collection, id } = target
  const keeper = keeperFor(context, target)
  if (id === null && request.method === 'GET') return listBound(context, target, stages)
  if (id !== null && !(await canReference(stages.database, id, resolvedKey, keeper)))
    throw createError('openAiObjectNotFound', { id })
  await checkQueryString(context, stages)
  if (request.method !== 'POST') return read(context, { ...target, keeper }, stages)
  const { passed, references } = await readBody(context, collection, stages)
  const owned: StoredObjectReference[] = id === null ? references : [{ kind: 'other', id, field: 'id' }, ...references]
  const provider = await checkReferences(stages.database, owned, resolvedKey, keeper)
  return send(context, { ...target, provider, passed }, stages)
}

/** OpenAI, under the project's own key; else a 404 that says what is missing. */
function keeperFor({ resolvedKey, provider }: Context, { collection, vendor }: BoundTarget): Provider {
  if (resolvedKey.key_type === 'test')
    throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: `/${collection}` })
  if (vendor !== undefined && vendor !== 'openai') throw namesAnother(collection, vendor)
  if (!provider) throw createError('openAiKeyRequired', { path: collection })
  return provider
}

function namesAnother(collection: OpenAiCollection, vendor: ClientVendor): ProxyError {
  return createError('collectionOfAnotherVendor', { path: collection, vendor })
}

interface BoundBody {
  passed: PassThroughBody | null
  references: StoredObjectReference[]
}

async function readBody(
  context: RequestContext,
  collection: OpenAiCollection,
  stages: PipelineServices,
): Promise<BoundBody> {
  const { request, resolvedKey } = context
  if (request.body.contentLength === 0) return { passed: null, references: [] }
  const { passThroughBody, references } = await readPassThroughBody(request, true, resolvedKey, stages)
  const { fields } = passThroughBody
  // The lines of a batch are counted and checked as its file comes: in parts they would not be.
  if (collection === 'uploads' && fields.purpose === 'batch') throw createError('batchUploadInParts')
  const model = modelOf(fields, collection)
  const refusal = model === null ? null : checkAllowedModels([model], resolvedKey)
  if (refusal) throw refusal
  await checkStoredObjectBody(context, passThroughBody, stages)
  const named =
    collection === 'conversations' ? findStoredObjectReferences({ input: fields.items }, '') : findIds(fields)
  return { passed: passThroughBody, references: [...references, ...named] }
}

function modelOf({ model }: JsonObject, collection: OpenAiCollection): string | null {
  return typeof model === 'string' ? model : OPENAI_COLLECTIONS[collection].defaultModel
}

/** Whatever is named by an object's `id`, such as a video or a character in it. */
function findIds(value: unknown, field = '', found: StoredObjectReference[] = []): StoredObjectReference[] {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, of] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${field}[${name}]` : field === '' ? name : `${field}.${name}`
    if (name === 'id' && typeof of === 'string') found.push({ kind: 'other', id: of, field: place })
    else if (typeof of === 'object' && !OPAQUE.has(name)) findIds(of, place, found)
  }
  return found
}

/** What is asked for, or deleted. It is free, and not recorded. */
async function read(
  context: RequestContext,
  { collection, id, subpath, keeper }: BoundTarget & { keeper: Provider },
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { database } = stages
  const named: StoredObjectReference[] = id === null ? [] : [{ kind: 'other', id, field: 'id' }]
  const provider = await checkReferences(database, named, resolvedKey, keeper)
  const isDownload = subpath.endsWith('/content')
  const answer = await passThroughTo(provider, {
    ...askedOf(request, { collection, id, subpath }),
    isDownload,
    signal: createDisconnectSignal(request.signal),
  })
  const headers = { ...toResponseHeaders(answer), 'x-proxy-provider': provider.name }
  if (isDownload && answer.status < 400) return { status: answer.status, headers, body: answer.body }
  const bytes = await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const isGone = answer.status === 404 || (request.method === 'DELETE' && answer.status < 400)
  if (id !== null && subpath === '' && isGone)
    await callFunction(database, 'delete_stored_object', {
      of_project: resolvedKey.project_id,
      of_collection: collection,
      object_id: id,
    })
  const about = { database, resolvedKey, keeper: answer.status < 400 ? keeperNameOf(provider, answer) : null }
  const told = { status: answer.status, headers, body: await claimIdsInBody(bytes, about) }
  // What a model said in the background was not seen before.
  return OPENAI_COLLECTIONS[collection].storesResponses ? checkStoredResponse(context, told, stages) : told
}

interface Sending extends BoundTarget {
  provider: Provider
  passed: PassThroughBody | null
}

/** What makes, changes or asks for something. It counts, and is recorded; what it costs is not known. */
async function send(context: RequestContext, sending: Sending, stages: PipelineServices): Promise<ProxyResponse> {
  const { request, recorder, query } = context
  const { collection, id, subpath, provider, passed } = sending
  const use = findMethodTraits(sending, 'POST') ?? {}
  const model = (passed && modelOf(passed.fields, collection)) ?? collection
  const tags = readTags(request.headers, { body: passed?.fields ?? {}, endpoint: collection })
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  if (use.costs) await refuseWithinBudget(context, collection, model)
  recorder.beginCall(() => NO_USAGE)
  // Not the client's signal: what is made is bound to its project even if the client has left.
  const signal = new AbortController().signal
  const answer = await passThroughTo(provider, {
    ...askedOf(request, { collection, id, subpath }),
    body: passed,
    isDownload: false,
    signal,
  })
  recorder.recordResponseHead(answer)
  const bytes = await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const isDone = answer.status < 400
  if (isDone) await bindSent(context, { ...sending, answer, text: new TextDecoder().decode(bytes) }, stages)
  recorder.recordHeadersSent()
  const usd = use.costs ? null : 0
  const usage = applyCost(NO_USAGE, usd)
  if (isDone) recorder.finish({ status: answer.status, isCounted: true, cacheResult: 'MISS', usage })
  else recorder.finishFailed({ ...answer, body: bytes })
  return {
    status: answer.status,
    headers: { ...toResponseHeaders(answer), ...createMissHeaders(provider.name, usd) },
    body: bytes,
  }
}

/** Nobody can tell before what it will cost. */
async function refuseWithinBudget({ recorder }: Context, path: OpenAiCollection, model: string): Promise<void> {
  try {
    await recorder.spending?.reserveMoney(model, { usd: null, tokens: null })
  } catch (error) {
    throw error instanceof ProxyError && error.code === NOT_PRICED
      ? createError('collectionNotPriced', { path }, error)
      : error
  }
}

/** Binds what the answer says was made: the object, the file that an upload has become, and whatever else it names. */
async function bindSent(
  { request, resolvedKey }: Context,
  { answer, text, provider, ...target }: Sending & { answer: UpstreamResponse; text: string },
  { database }: PipelineServices,
): Promise<void> {
  const keeper = keeperNameOf(provider, answer)
  const object = parseJsonObject(text)
  if (!object) return
  const owner = { of_project: resolvedKey.project_id, of_provider: keeper }
  if (findMethodTraits(target, 'POST')?.makes) {
    const { id } = object
    if (typeof id !== 'string') throw brokenResponseError(provider.name, 'gave an answer without an id')
    const made = { object_id: id, of_collection: target.collection, ...describeObject(object, text) }
    await callFunction(database, 'upsert_stored_object', { ...owner, ...made }).catch(async error => {
      await undo(request, { ...target, id }, provider)
      throw createError('databaseUnavailable', null, error)
    })
  }
  const { file } = object
  if (target.collection === 'uploads' && isJsonObject(file) && typeof file.id === 'string') {
    const made = { object_id: file.id, of_collection: 'files', ...describeObject(file, JSON.stringify(file)) }
    await callFunction(database, 'upsert_stored_object', { ...owner, ...made })
  }
  await claimIdsInBody(text, { database, resolvedKey, keeper })
}

/** Deletes, as far as possible, what could not be bound to its project. */
async function undo(request: ProxyRequest, { collection, id }: BoundTarget, provider: Provider): Promise<void> {
  const asked = { ...askedOf({ ...request, method: 'DELETE', search: '' }, { collection, id, subpath: '' }) }
  const undone = passThroughTo(provider, { ...asked, isDownload: false, signal: new AbortController().signal })
  await undone.then(answer => answer.body.cancel()).catch(() => {})
}

function askedOf(
  { method, search, headers }: Pick<ProxyRequest, 'method' | 'search' | 'headers'>,
  { collection, id, subpath }: Pick<BoundTarget, 'collection' | 'id' | 'subpath'>,
) {
  const path = `/${collection}${id === null ? '' : `/${id}${subpath}`}${search}`
  return { method, path, body: null, headers, hasSideEffects: method !== 'GET' }
}

function keeperNameOf({ pricedAs }: Provider, { headers }: UpstreamResponse): string {
  return storageProviderName(pricedAs ?? '', headers.get(PROVIDER_KEY_HEADER))
}

/** The project's own alone: OpenAI's list has all of its account's. */
function listBound(context: RequestContext, target: BoundTarget, stages: PipelineServices): Promise<ProxyResponse> {
  const { request } = context
  const { collection } = target
  return listStoredObjects(
    context,
    {
      ...{
        collection,
        storageProvider: null,
        pageSize: PAGE,
        isAnthropicFormat: false,
        search: new URLSearchParams(request.search),
      },
      mayHaveChanged: () => true,
      fetchObject: ({ id }) =>
        forwardToStorageProvider({ ...context, request: { ...request, search: '' } }, { ...target, id }, stages),
    },
    stages,
  )
}
