/** Reads a pass-through request. Its bytes stay as the client sent them; the proxy reads the fields that it relies on. */
import { readCacheControl } from '../../cache/cache-control.ts'
import { invalidRequestError } from '../../errors/errors.ts'
import { type BodyFacts, LazyBodyFacts, summarizeContent } from '../../formats/body-facts.ts'
import {
  canonicalizeBody,
  decodeUtf8,
  hasInexactNumber,
  type JsonObject,
  parseRequestBody,
} from '../../formats/json/canonical.ts'
import { isLargeBody } from '../../formats/large-bodies/read-large-body.ts'
import { contentTypeOfForm, parseMultipartForm, readFormValue } from '../../formats/multipart-form.ts'
import { referenceKindOf, type StoredObjectReference } from '../../formats/stored-object-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { setFieldsInLongBody } from '../../providers/long-body.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughOperation } from '../../providers/pass-through-operations.ts'
import { renameModelInBody } from '../../providers/rename-model.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { measureFormAudio } from '../request/audio-length.ts'
import { type BodyOptions, resolveAlias } from '../request/change-model.ts'
import { readModel } from '../request/parse-request.ts'
import type { PassThroughQuery } from '../request/query.ts'
import type { ProxyRequest } from '../request/request.ts'
import type { PipelineServices } from './request-context.ts'

/** Throws the errors of reading a body, and a 400 that names the invalid field or header. */
export async function readPassThroughRequest(
  request: ProxyRequest,
  resolvedKey: ResolvedKey,
  services: PipelineServices,
): Promise<PassThroughQuery> {
  const { target, headers, body } = request
  if (target.kind !== 'operation') throw new Error('readPassThroughRequest: target must be an operation')
  const { operation, vendor } = target
  const traits = PASS_THROUGH_OPERATIONS[operation]
  const control = readCacheControl(headers)
  // OpenAI's default applies only to requests that do not name a vendor.
  const defaultModel = vendor === undefined ? traits.defaultModel : null
  const toQuery = (read: ParsedPassThroughBody) => createQuery(operation, read, { headers, control, defaultModel })
  const read = await readPassThroughBody(request, traits.acceptsForms, resolvedKey, services)
  const query = await resolveAlias(toQuery(read), resolvedKey, async model => {
    const bytes = await renameModel(read, model, resolvedKey)
    return toQuery(await parseBody(bytes, read.passThroughBody.contentType, { body, resolvedKey, ...services }))
  })
  if (traits.acceptsAudio) query.audio = measureFormAudio(query.passThroughBody.form)
  return query
}

function createQuery(
  operation: PassThroughOperation,
  { passThroughBody, json, facts }: ParsedPassThroughBody,
  { defaultModel, ...controlled }: Pick<PassThroughQuery, 'headers' | 'control'> & { defaultModel: string | null },
): PassThroughQuery {
  const { isCacheable } = PASS_THROUGH_OPERATIONS[operation]
  const { fields } = passThroughBody
  const model = defaultModel !== null && (fields.model ?? null) === null ? defaultModel : readModel(fields)
  const stream = isStreamed(fields)
  return {
    ...(json ?? NO_JSON),
    ...controlled,
    kind: 'pass_through',
    endpoint: operation,
    model,
    stream,
    body: fields,
    passThroughBody,
    audio: null,
    facts,
    isCacheable: isCacheable && !stream && json !== null,
    isBoundToKey: false,
    get text() {
      return new TextDecoder().decode(passThroughBody.bytes)
    },
  }
}

/** Returns the body's bytes with another model. */
async function renameModel(
  { passThroughBody, json }: ParsedPassThroughBody,
  model: string,
  { project_id: owner }: ResolvedKey,
): Promise<Uint8Array> {
  if (json?.isLarge) return setFieldsInLongBody({ bodyBytes: passThroughBody.bytes, owner }, { model })
  return renameModelInBody(passThroughBody, model).bytes
}

const NO_JSON = { canonicalBody: '', hasInexactNumber: false, isLarge: false }

/** Booleans in a form are text. */
function isStreamed({ stream, stream_format }: JsonObject): boolean {
  if (![undefined, null, true, false, 'true', 'false'].some(known => known === stream)) {
    throw invalidRequestError('stream must be true or false.', 'stream')
  }
  return stream === true || stream === 'true' || stream_format === 'sse'
}

export interface ParsedPassThroughBody {
  passThroughBody: PassThroughBody
  /** For JSON only: the relevant fields in canonical form, and whether serializing them again could change a number. */
  json: { canonicalBody: string; hasInexactNumber: boolean; isLarge: boolean } | null
  facts: BodyFacts
}

/** The body is read as JSON unless it is a form, whatever content type the client sent. */
const JSON_TYPE = 'application/json'
/** Longer values in a form are treated as content, not as names, numbers or booleans. */
const MAX_VALUE_BYTES = 8_192
/** Fields that decide about routing or cost. A provider could read a repeated field, or a variant such as `model[]`, differently. */
const UNIQUE_FIELDS =
  /^\s*(model|purpose|n|size|quality|partial_images|frame_count|output_format|response_format)\s*(?:\[.*)?$/

/** Throws 400, 408, 413, 415 or 503. */
export async function readPassThroughBody(
  { body, headers }: Pick<ProxyRequest, 'body' | 'headers'>,
  acceptsForms: boolean,
  resolvedKey: ResolvedKey,
  { largeBodies }: Pick<PipelineServices, 'largeBodies'>,
): Promise<ParsedPassThroughBody> {
  const bytes = await body.readBytes(acceptsForms)
  const contentType = headers.get('content-type') ?? JSON_TYPE
  return parseBody(bytes, contentType, { body, resolvedKey, largeBodies })
}

async function parseBody(
  bytes: Uint8Array,
  contentType: string,
  { body, resolvedKey, largeBodies }: BodyOptions,
): Promise<ParsedPassThroughBody> {
  if (/^\s*multipart\/form-data/i.test(contentType)) return readFormBody(bytes, contentType)
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { owner: resolvedKey.project_id, hold: body.reserveMemory })
    const passThroughBody = { bytes: large.bytes, contentType: JSON_TYPE, fields: large.body, form: null }
    return { passThroughBody, json: { ...large, isLarge: true }, facts: large.facts }
  }
  const text = decodeUtf8(bytes)
  const fields = parseRequestBody(text)
  const json = { canonicalBody: canonicalizeBody(fields), hasInexactNumber: hasInexactNumber(text), isLarge: false }
  const passThroughBody = { bytes, contentType: JSON_TYPE, fields, form: null }
  return { passThroughBody, json, facts: new LazyBodyFacts(fields) }
}

function readFormBody(bytes: Uint8Array, contentType: string): ParsedPassThroughBody {
  const form = parseMultipartForm(bytes, contentType)
  // The prototype is null because a field may be called __proto__.
  const fields: JsonObject = Object.create(null)
  const references: StoredObjectReference[] = []
  for (const part of form.parts) {
    const { name, isFile, start, end } = part
    const isValue = !isFile && end - start <= MAX_VALUE_BYTES
    const uniqueName = UNIQUE_FIELDS.exec(name)?.[1]
    if (uniqueName !== undefined && !(isValue && name === uniqueName && !(name in fields)))
      throw invalidRequestError(`The form must have exactly one ${uniqueName}, as text.`, uniqueName)
    const kind = referenceKindOf(name)
    if (kind && !isValue) throw invalidRequestError(`${name} must be an id.`, name)
    if (!isValue) continue
    const value = readFormValue(form, part)
    fields[name] = value
    if (kind) references.push({ kind, id: value, field: name })
  }
  const passThroughBody = { bytes, contentType: contentTypeOfForm(form), fields, form }
  return { passThroughBody, json: null, facts: { references, content: summarizeContent(fields, references) } }
}
