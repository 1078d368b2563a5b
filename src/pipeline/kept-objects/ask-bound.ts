/**
 * Passes on what is asked about objects that OpenAI keeps under a project's own key (`providers/bound-objects.ts`): each belongs to the
 * project that made it through the proxy or, if it was made elsewhere, that named it first.
 */
import { ProxyError, refuse } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { findKeptReferences, type KeptReference } from '../../formats/kept-references.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { call } from '../../postgres/call.ts'
import { nameKeeper } from '../../postgres/kept-objects.ts'
import { PROVIDER_KEY } from '../../providers/balanced.ts'
import { BOUND, type BoundCollection, useOf } from '../../providers/bound-objects.ts'
import { refuseUnallowed } from '../../providers/model-router.ts'
import type { NamedVendor } from '../../providers/operations.ts'
import { MAX_PLAIN_BYTES, readAll } from '../../providers/read-bytes.ts'
import type { PassedBody, Provider, UpstreamAnswer } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import { checkBody, checkSearch, passKept } from '../checks/check-kept.ts'
import { passedOn } from '../complete-call.ts'
import { withCost } from '../pass-through/passed-usage.ts'
import { readPassedBody } from '../pass-through/read-passed.ts'
import type { PipelineTarget, ProxyRequest, ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { missHeaders } from '../response-headers.ts'
import { readTags } from '../tags.ts'
import { leavingOf, passTo } from './ask-object.ts'
import { bindRead } from './bind-made.ts'
import { checkReferences, mayName } from './check-references.ts'
import { listKept } from './list-objects.ts'
import { describeObject } from './note-object.ts'

type BoundTarget = Extract<PipelineTarget, { kind: 'bound' }>
type Context = Pick<RequestContext, 'request' | 'account' | 'recorder' | 'query' | 'provider'>

const NOT_PRICED = 'model_not_priced'
/** OpenAI's page sizes. */
const PAGE = { usual: 20, most: 100 }
/** Fields with the client's own names. */
const OPAQUE = new Set(['metadata', 'attributes', 'filters'])

/** Throws 400, 404, 429, 502 to 504. */
export async function askBound(context: RequestContext, target: BoundTarget, stages: Stages): Promise<ProxyResponse> {
  const { request, account } = context
  const { collection, id } = target
  const keeper = keeperFor(context, target)
  if (id === null && request.method === 'GET') return listBound(context, target, stages)
  if (id !== null && !(await mayName(stages.database, id, account, keeper))) throw refuse('boundUnknown', { id })
  await checkSearch(context, stages)
  if (request.method !== 'POST') return read(context, { ...target, keeper }, stages)
  const { passed, references } = await readBody(context, collection, stages)
  const owned: KeptReference[] = id === null ? references : [{ kind: 'other', id, field: 'id' }, ...references]
  const provider = await checkReferences(stages.database, owned, account, keeper)
  return send(context, { ...target, provider, passed }, stages)
}

/** OpenAI, under the project's own key; else a 404 that says what is missing. */
function keeperFor({ account, provider }: Context, { collection, vendor }: BoundTarget): Provider {
  if (account.key_type === 'test')
    throw refuse('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: `/${collection}` })
  if (vendor !== undefined && vendor !== 'openai') throw namesAnother(collection, vendor)
  if (!provider) throw refuse('boundNeedsKey', { path: collection })
  return provider
}

function namesAnother(collection: BoundCollection, vendor: NamedVendor): ProxyError {
  return refuse('boundElsewhere', { path: collection, vendor })
}

interface BoundBody {
  passed: PassedBody | null
  references: KeptReference[]
}

async function readBody(context: RequestContext, collection: BoundCollection, stages: Stages): Promise<BoundBody> {
  const { request, account } = context
  if (request.body.announcedBytes === 0) return { passed: null, references: [] }
  const { passed, references } = await readPassedBody(request, true, account, stages)
  const { fields } = passed
  // The lines of a batch are counted and checked as its file comes: in parts they would not be.
  if (collection === 'uploads' && fields.purpose === 'batch') throw refuse('batchInParts')
  const model = modelOf(fields, collection)
  const refusal = model === null ? null : refuseUnallowed([model], account)
  if (refusal) throw refusal
  await checkBody(context, passed, stages)
  const named = collection === 'conversations' ? findKeptReferences({ input: fields.items }, '') : findIds(fields)
  return { passed, references: [...references, ...named] }
}

function modelOf({ model }: JsonObject, collection: BoundCollection): string | null {
  return typeof model === 'string' ? model : BOUND[collection].defaultModel
}

/** Whatever is named by an object's `id`, such as a video or a character in it. */
function findIds(value: unknown, field = '', found: KeptReference[] = []): KeptReference[] {
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
  { collection, id, rest, keeper }: BoundTarget & { keeper: Provider },
  stages: Stages,
): Promise<ProxyResponse> {
  const { request, account } = context
  const { database } = stages
  const named: KeptReference[] = id === null ? [] : [{ kind: 'other', id, field: 'id' }]
  const provider = await checkReferences(database, named, account, keeper)
  const isDownload = rest.endsWith('/content')
  const answer = await passTo(provider, {
    ...askedOf(request, { collection, id, rest }),
    isDownload,
    signal: leavingOf(request.signal),
  })
  const headers = { ...passedOn(answer), 'x-proxy-provider': provider.name }
  if (isDownload && answer.status < 400) return { status: answer.status, headers, body: answer.body }
  const bytes = await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)
  const isGone = answer.status === 404 || (request.method === 'DELETE' && answer.status < 400)
  if (id !== null && rest === '' && isGone)
    await call(database, 'forget_kept_object', {
      of_project: account.project_id,
      of_collection: collection,
      object_id: id,
    })
  const about = { database, account, keeper: answer.status < 400 ? keeperNameOf(provider, answer) : null }
  const told = { status: answer.status, headers, body: await bindRead(bytes, about) }
  // What a model said in the background was not seen before.
  return BOUND[collection].holdsAnswers ? passKept(context, told, stages) : told
}

interface Sending extends BoundTarget {
  provider: Provider
  passed: PassedBody | null
}

/** What makes, changes or asks for something. It counts, and is recorded; what it costs is not known. */
async function send(context: RequestContext, sending: Sending, stages: Stages): Promise<ProxyResponse> {
  const { request, recorder, query } = context
  const { collection, id, rest, provider, passed } = sending
  const use = useOf(sending, 'POST') ?? {}
  const model = (passed && modelOf(passed.fields, collection)) ?? collection
  const tags = readTags(request.headers, { body: passed?.fields ?? {}, endpoint: collection })
  recorder.setQuery({ ...query, model }, tags)
  recorder.setProvider(provider)
  if (use.costs) await refuseWithinBudget(context, collection, model)
  recorder.beginCall(() => NO_USAGE)
  // Not the client's signal: what is made is bound to its project even if the client has left.
  const signal = new AbortController().signal
  const answer = await passTo(provider, {
    ...askedOf(request, { collection, id, rest }),
    body: passed,
    isDownload: false,
    signal,
  })
  recorder.recordResponseHead(answer)
  const bytes = await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)
  const isDone = answer.status < 400
  if (isDone) await bindSent(context, { ...sending, answer, text: new TextDecoder().decode(bytes) }, stages)
  recorder.recordHeadersReady()
  const usd = use.costs ? null : 0
  const usage = withCost(NO_USAGE, usd)
  if (isDone) recorder.finish({ status: answer.status, counts: true, cacheResult: 'MISS', usage })
  else recorder.finishFailed({ ...answer, body: bytes })
  return { status: answer.status, headers: { ...passedOn(answer), ...missHeaders(provider.name, usd) }, body: bytes }
}

/** Nobody can tell before what it will cost. */
async function refuseWithinBudget({ recorder }: Context, path: BoundCollection, model: string): Promise<void> {
  try {
    await recorder.spending?.reserveMoney(model, { usd: null, tokens: null })
  } catch (error) {
    throw error instanceof ProxyError && error.code === NOT_PRICED ? refuse('boundNotPriced', { path }, error) : error
  }
}

/** Binds what the answer says was made: the object, the file that an upload has become, and whatever else it names. */
async function bindSent(
  { request, account }: Context,
  { answer, text, provider, ...target }: Sending & { answer: UpstreamAnswer; text: string },
  { database }: Stages,
): Promise<void> {
  const keeper = keeperNameOf(provider, answer)
  const object = parseJsonObject(text)
  if (!object) return
  const owner = { of_project: account.project_id, of_provider: keeper }
  if (useOf(target, 'POST')?.makes) {
    const { id } = object
    if (typeof id !== 'string') throw broken(provider.name, 'gave an answer without an id')
    const made = { object_id: id, of_collection: target.collection, ...describeObject(object, text) }
    await call(database, 'keep_object', { ...owner, ...made }).catch(async error => {
      await undo(request, { ...target, id }, provider)
      throw refuse('databaseUnavailable', null, error)
    })
  }
  const { file } = object
  if (target.collection === 'uploads' && isJsonObject(file) && typeof file.id === 'string') {
    const made = { object_id: file.id, of_collection: 'files', ...describeObject(file, JSON.stringify(file)) }
    await call(database, 'keep_object', { ...owner, ...made })
  }
  await bindRead(text, { database, account, keeper })
}

/** Deletes, as far as possible, what could not be bound to its project. */
async function undo(request: ProxyRequest, { collection, id }: BoundTarget, provider: Provider): Promise<void> {
  const asked = { ...askedOf({ ...request, method: 'DELETE', search: '' }, { collection, id, rest: '' }) }
  const undone = passTo(provider, { ...asked, isDownload: false, signal: new AbortController().signal })
  await undone.then(answer => answer.body.cancel()).catch(() => {})
}

function askedOf(
  { method, search, headers }: Pick<ProxyRequest, 'method' | 'search' | 'headers'>,
  { collection, id, rest }: Pick<BoundTarget, 'collection' | 'id' | 'rest'>,
) {
  const path = `/${collection}${id === null ? '' : `/${id}${rest}`}${search}`
  return { method, path, body: null, headers, leavesTrace: method !== 'GET' }
}

function keeperNameOf({ pricedAs }: Provider, { headers }: UpstreamAnswer): string {
  return nameKeeper(pricedAs ?? '', headers.get(PROVIDER_KEY))
}

/** The project's own alone: OpenAI's list has all of its account's. */
function listBound(context: RequestContext, target: BoundTarget, stages: Stages): Promise<ProxyResponse> {
  const { request } = context
  const { collection } = target
  return listKept(
    context,
    {
      ...{ collection, keptBy: null, size: PAGE, isAnthropics: false, search: new URLSearchParams(request.search) },
      mayHaveChanged: () => true,
      ask: ({ id }) => askBound({ ...context, request: { ...request, search: '' } }, { ...target, id }, stages),
    },
    stages,
  )
}
