/**
 * Forwards requests about objects that OpenAI stores under a project's provider key (`providers/openai-collections.ts`). Each object
 * belongs to the project that created it through the proxy or, if it was created elsewhere, to the project that named it first.
 */
import { createError, ProxyError } from '../../errors/errors.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import type { StoredObjectReference } from '../../formats/stored-object-references.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { callFunction } from '../../postgres/call.ts'
import { storageProviderName } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { findMethodTraits, OPENAI_COLLECTIONS, type OpenAiCollection } from '../../providers/openai-collections.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughBody, Provider, UpstreamResponse } from '../../providers/upstream.ts'
import { brokenResponseError } from '../../providers/upstream-failure.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkQueryString, checkStoredResponse } from '../hook-checks/check-stored-objects.ts'
import { canReference, checkReferences } from '../ownership/check-references.ts'
import { claimIdsInBody } from '../ownership/claim-ids.ts'
import type { PipelineTarget, ProxyRequest, ProxyResponse } from '../request/request.ts'
import { readTags } from '../request/tags.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { createMissHeaders } from '../response/response-headers.ts'
import { applyCost } from '../spending/pass-through-usage.ts'
import { createDisconnectSignal, passThroughTo } from './forward-object-request.ts'
import { listStoredObjects } from './list-objects.ts'
import { objectModelOf, readObjectBody } from './read-object-body.ts'
import { describeObject } from './record-object-state.ts'

type OpenAiObjectTarget = Extract<PipelineTarget, { kind: 'bound' }>
type Context = Pick<RequestContext, 'request' | 'resolvedKey' | 'recorder' | 'query' | 'provider'>

const MODEL_NOT_PRICED = 'model_not_priced'
/** OpenAI's default and maximum page sizes. */
const PAGE_SIZES = { default: 20, max: 100 }

/** Forwards the request, and claims the ids in its response for the project. Throws 400, 404, 429, 502 to 504. */
export async function forwardToStorageProvider(
  context: RequestContext,
  target: OpenAiObjectTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { collection, id } = target
  const openAi = requireOpenAi(context, target)
  if (id === null && request.method === 'GET') return listOwnObjects(context, target, stages)
  if (id !== null && !(await canReference(stages.database, id, resolvedKey, openAi)))
    throw createError('openAiObjectNotFound', { id })
  await checkQueryString(context, stages)
  if (request.method !== 'POST') return read(context, { ...target, openAi }, stages)
  const { body, references } = await readObjectBody(context, collection, stages)
  const allReferences: StoredObjectReference[] =
    id === null ? references : [{ kind: 'other', id, field: 'id' }, ...references]
  const provider = await checkReferences(stages.database, allReferences, resolvedKey, openAi)
  return send(context, { ...target, provider, body }, stages)
}

/** Returns OpenAI under the project's provider key. Throws a 404 that names what is missing. */
function requireOpenAi({ resolvedKey, provider }: Context, { collection, vendor }: OpenAiObjectTarget): Provider {
  if (resolvedKey.key_type === 'test')
    throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: `/${collection}` })
  if (vendor !== undefined && vendor !== 'openai') throw createOtherVendorError(collection, vendor)
  if (!provider) throw createError('openAiKeyRequired', { path: collection })
  return provider
}

function createOtherVendorError(collection: OpenAiCollection, vendor: ClientVendor): ProxyError {
  return createError('collectionOfAnotherVendor', { path: collection, vendor })
}

/** Reads or deletes an object. Such requests are free and not recorded. */
async function read(
  context: RequestContext,
  { collection, id, subpath, openAi }: OpenAiObjectTarget & { openAi: Provider },
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey } = context
  const { database } = stages
  const references: StoredObjectReference[] = id === null ? [] : [{ kind: 'other', id, field: 'id' }]
  const provider = await checkReferences(database, references, resolvedKey, openAi)
  const isDownload = subpath.endsWith('/content')
  const upstream = await passThroughTo(provider, {
    ...createUpstreamRequest(request, { collection, id, subpath }),
    isDownload,
    signal: createDisconnectSignal(request.signal),
  })
  const headers = { ...toResponseHeaders(upstream), 'x-proxy-provider': provider.name }
  if (isDownload && upstream.status < 400) return { status: upstream.status, headers, body: upstream.body }
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const isDeleted = upstream.status === 404 || (request.method === 'DELETE' && upstream.status < 400)
  if (id !== null && subpath === '' && isDeleted)
    await callFunction(database, 'delete_stored_object', {
      of_project: resolvedKey.project_id,
      of_collection: collection,
      object_id: id,
    })
  const claim = {
    database,
    resolvedKey,
    keeper: upstream.status < 400 ? storageProviderIdOf(provider, upstream) : null,
  }
  const response = { status: upstream.status, headers, body: await claimIdsInBody(bytes, claim) }
  // The hook has not seen a response that was generated in the background.
  return OPENAI_COLLECTIONS[collection].storesResponses ? checkStoredResponse(context, response, stages) : response
}

interface SendOptions extends OpenAiObjectTarget {
  provider: Provider
  body: PassThroughBody | null
}

/** Creates or changes an object. Such requests count and are recorded; their cost is unknown. */
async function send(context: RequestContext, options: SendOptions, stages: PipelineServices): Promise<ProxyResponse> {
  const { request, recorder, query } = context
  const { collection, id, subpath, provider, body } = options
  const traits = findMethodTraits(options, 'POST') ?? {}
  const model = (body && objectModelOf(body.fields, collection)) ?? collection
  const tags = readTags(request.headers, { body: body?.fields ?? {}, endpoint: collection })
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  if (traits.costs) await rejectIfBudgeted(context, collection, model)
  recorder.beginCall(() => NO_USAGE)
  // The client's signal is not used: the object is claimed for the project even if the client has disconnected.
  const signal = new AbortController().signal
  const upstream = await passThroughTo(provider, {
    ...createUpstreamRequest(request, { collection, id, subpath }),
    body,
    isDownload: false,
    signal,
  })
  recorder.recordResponseHead(upstream)
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const isSuccessful = upstream.status < 400
  if (isSuccessful)
    await claimCreatedObjects(context, { ...options, upstream, text: new TextDecoder().decode(bytes) }, stages)
  recorder.recordHeadersSent()
  const usd = traits.costs ? null : 0
  const usage = applyCost(NO_USAGE, usd)
  if (isSuccessful) recorder.finish({ status: upstream.status, isCounted: true, cacheResult: 'MISS', usage })
  else recorder.finishFailed({ ...upstream, body: bytes })
  return {
    status: upstream.status,
    headers: { ...toResponseHeaders(upstream), ...createMissHeaders(provider.name, usd) },
    body: bytes,
  }
}

/** Rejects the request if a budget applies, because its cost has no known bound. */
async function rejectIfBudgeted({ recorder }: Context, path: OpenAiCollection, model: string): Promise<void> {
  try {
    await recorder.spending?.reserveMoney(model, { usd: null, tokens: null })
  } catch (error) {
    throw error instanceof ProxyError && error.code === MODEL_NOT_PRICED
      ? createError('collectionNotPriced', { path }, error)
      : error
  }
}

/** Records what the response names for the project: the created object, the file of a completed upload, and other ids. */
async function claimCreatedObjects(
  { request, resolvedKey }: Context,
  { upstream, text, provider, ...target }: SendOptions & { upstream: UpstreamResponse; text: string },
  { database }: PipelineServices,
): Promise<void> {
  const storageProvider = storageProviderIdOf(provider, upstream)
  const object = parseJsonObject(text)
  if (!object) return
  const owner = { of_project: resolvedKey.project_id, of_provider: storageProvider }
  if (findMethodTraits(target, 'POST')?.makes) {
    const { id } = object
    if (typeof id !== 'string') throw brokenResponseError(provider.name, 'returned a response without an id')
    const created = { object_id: id, of_collection: target.collection, ...describeObject(object, text) }
    await callFunction(database, 'upsert_stored_object', { ...owner, ...created }).catch(async error => {
      await deleteUnrecorded(request, { ...target, id }, provider)
      throw createError('databaseUnavailable', null, error)
    })
  }
  const { file } = object
  if (target.collection === 'uploads' && isJsonObject(file) && typeof file.id === 'string') {
    const created = { object_id: file.id, of_collection: 'files', ...describeObject(file, JSON.stringify(file)) }
    await callFunction(database, 'upsert_stored_object', { ...owner, ...created })
  }
  await claimIdsInBody(text, { database, resolvedKey, keeper: storageProvider })
}

/** Deletes an object that could not be recorded. Failures are ignored. */
async function deleteUnrecorded(
  request: ProxyRequest,
  { collection, id }: OpenAiObjectTarget,
  provider: Provider,
): Promise<void> {
  const target = { collection, id, subpath: '' }
  const upstreamRequest = createUpstreamRequest({ ...request, method: 'DELETE', search: '' }, target)
  const deletion = passThroughTo(provider, {
    ...upstreamRequest,
    isDownload: false,
    signal: new AbortController().signal,
  })
  await deletion.then(upstream => upstream.body.cancel()).catch(() => {})
}

function createUpstreamRequest(
  { method, search, headers }: Pick<ProxyRequest, 'method' | 'search' | 'headers'>,
  { collection, id, subpath }: Pick<OpenAiObjectTarget, 'collection' | 'id' | 'subpath'>,
) {
  const path = `/${collection}${id === null ? '' : `/${id}${subpath}`}${search}`
  return { method, path, body: null, headers, hasSideEffects: method !== 'GET' }
}

function storageProviderIdOf({ pricedAs }: Provider, { headers }: UpstreamResponse): string {
  return storageProviderName(pricedAs ?? '', headers.get(PROVIDER_KEY_HEADER))
}

/** Lists the project's own objects: OpenAI's list would include those of other projects of the same account. */
function listOwnObjects(
  context: RequestContext,
  target: OpenAiObjectTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request } = context
  const { collection } = target
  return listStoredObjects(
    context,
    {
      ...{
        collection,
        storageProvider: null,
        pageSize: PAGE_SIZES,
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
