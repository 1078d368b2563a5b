/** Prepares requests that create or change an object: reads and checks the body, and decides the provider. */
import { createError, ProxyError, throwIfError } from '../../errors/errors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { walkJson } from '../../formats/json/walk.ts'
import {
  findStoredObjectReferences,
  formatPath,
  type StoredObjectReference,
} from '../../formats/stored-object-references.ts'
import { checkAllowedModels } from '../../providers/model-router.ts'
import { type StoredObjectCollection, traitsOf } from '../../providers/stored-object-collections.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { checkStoredObjectBody } from '../hook-checks/check-stored-objects.ts'
import { checkReferences } from '../ownership/check-references.ts'
import { readTags } from '../request/tags.ts'
import { type ObjectContext, requireOpenAi } from './find-object.ts'
import type { PreparedRequest } from './send-object-request.ts'
import { prepareBatch, prepareMessageBatch } from './start-batch.ts'
import { prepareFile } from './upload-file.ts'

type Prepare = (context: ObjectContext, stages: PipelineServices) => Promise<PreparedRequest>

/** The preparation of collections whose new objects contain requests, or are recorded with their state. */
const PREPARE: Partial<Record<StoredObjectCollection, Prepare>> = {
  files: prepareFile,
  anthropic_files: prepareFile,
  batches: prepareBatch,
  message_batches: prepareMessageBatch,
}

/** Throws 400, 403, 404, 413, 415, 429, or the hook's rejection. */
export function prepareObjectRequest(context: ObjectContext, stages: PipelineServices): Promise<PreparedRequest> {
  const prepare = PREPARE[context.target.collection] ?? prepareOpenAiRequest
  return prepare(context, stages)
}

const MODEL_NOT_PRICED = 'model_not_priced'

async function prepareOpenAiRequest(context: ObjectContext, stages: PipelineServices): Promise<PreparedRequest> {
  const { request, recorder, resolvedKey, query, target, action } = context
  const { collection, id } = target
  const { body, model, references } = await readBody(context, stages)
  const all: StoredObjectReference[] = id === null ? references : [{ kind: 'other', id, field: 'id' }, ...references]
  const provider = await checkReferences(stages.database, all, resolvedKey, requireOpenAi(context))
  const recordedModel = model ?? collection
  recorder.setQuery(
    { ...query, model: recordedModel },
    readTags(request.headers, { body: body?.fields ?? {}, endpoint: collection }),
  )
  recorder.setProvider(provider)
  if (action.costs) await rejectIfBudgeted(context, recordedModel)
  return { provider, body }
}

/** Rejects the request if a budget applies, because its cost has no known bound. */
async function rejectIfBudgeted({ recorder, target }: ObjectContext, model: string): Promise<void> {
  try {
    await recorder.spending?.reserveMoney(model, { usd: null, tokens: null })
  } catch (error) {
    throw error instanceof ProxyError && error.code === MODEL_NOT_PRICED
      ? createError('collectionNotPriced', { path: target.collection }, error)
      : error
  }
}

/** Fields whose content has names of the client's choice. */
const CLIENT_FIELDS: ReadonlySet<unknown> = new Set(['metadata', 'attributes', 'filters'])

interface ObjectBody {
  body: PassThroughBody | null
  /** The model that the body names, or the default model of the collection; null for neither. */
  model: string | null
  /** Stored objects that the body names. */
  references: StoredObjectReference[]
}

/** Throws for a model that the key may not use, and if the hook rejects. */
async function readBody(context: ObjectContext, stages: PipelineServices): Promise<ObjectBody> {
  const { request, resolvedKey, target } = context
  const { collection } = target
  if (request.body.contentLength === 0) return { body: null, model: null, references: [] }
  const { passThroughBody, facts } = await readPassThroughBody(request, true, resolvedKey, stages)
  const { fields } = passThroughBody
  // A batch's lines are counted and checked when its file is uploaded. An upload in parts would bypass that.
  if (collection === 'uploads' && fields.purpose === 'batch') throw createError('batchUploadInParts')
  const model = typeof fields.model === 'string' ? fields.model : (traitsOf(collection).defaultModel ?? null)
  if (model !== null) throwIfError(checkAllowedModels([model], resolvedKey))
  await checkStoredObjectBody(context, passThroughBody, stages)
  const objectIds =
    collection === 'conversations' ? findStoredObjectReferences({ input: fields.items }) : findIds(fields)
  return { body: passThroughBody, model, references: [...facts.references, ...objectIds] }
}

/** Finds the ids of objects in the body, such as a video or a character in it. */
function findIds(body: JsonObject): StoredObjectReference[] {
  const found: StoredObjectReference[] = []
  walkJson(body, (value, name, _container, path) => {
    if (name === 'id' && typeof value === 'string')
      found.push({ kind: 'other', id: value, field: formatPath([...path, name]) })
    return !CLIENT_FIELDS.has(name)
  })
  return found
}
