/** Reads the body of a request about an object that OpenAI stores: its model, and the stored objects that it names. */
import { createError } from '../../errors/errors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { walkJson } from '../../formats/json/walk.ts'
import {
  findStoredObjectReferences,
  formatPath,
  type StoredObjectReference,
} from '../../formats/stored-object-references.ts'
import { checkAllowedModels } from '../../providers/model-router.ts'
import { OPENAI_COLLECTIONS, type OpenAiCollection } from '../../providers/openai-collections.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { readPassThroughBody } from '../context/read-pass-through.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { checkStoredObjectBody } from '../hook-checks/check-stored-objects.ts'

/** Fields whose content has names of the client's choice. */
const CLIENT_FIELDS: ReadonlySet<unknown> = new Set(['metadata', 'attributes', 'filters'])

interface ObjectBody {
  body: PassThroughBody | null
  references: StoredObjectReference[]
}

/** Reads the body of a request about an object. Throws for a model that the key may not use, and if the hook rejects. */
export async function readObjectBody(
  context: RequestContext,
  collection: OpenAiCollection,
  stages: PipelineServices,
): Promise<ObjectBody> {
  const { request, resolvedKey } = context
  if (request.body.contentLength === 0) return { body: null, references: [] }
  const { passThroughBody, facts } = await readPassThroughBody(request, true, resolvedKey, stages)
  const { fields } = passThroughBody
  // A batch's lines are counted and checked when its file is uploaded. An upload in parts would bypass that.
  if (collection === 'uploads' && fields.purpose === 'batch') throw createError('batchUploadInParts')
  const model = objectModelOf(fields, collection)
  const rejection = model === null ? null : checkAllowedModels([model], resolvedKey)
  if (rejection) throw rejection
  await checkStoredObjectBody(context, passThroughBody, stages)
  const objectIds =
    collection === 'conversations' ? findStoredObjectReferences({ input: fields.items }) : findIds(fields)
  return { body: passThroughBody, references: [...facts.references, ...objectIds] }
}

/** Returns the model that the body names, or the default model of the collection; null for neither. */
export function objectModelOf({ model }: JsonObject, collection: OpenAiCollection): string | null {
  return typeof model === 'string' ? model : OPENAI_COLLECTIONS[collection].defaultModel
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
