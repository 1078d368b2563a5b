/** Reads a request that is passed on: its bytes are kept as they came, and the fields that decide are read. */
import { readCacheControl } from '../../cache/cache-control.ts'
import { invalidRequestError } from '../../errors/errors.ts'
import {
  canonicalizeBody,
  decodeUtf8,
  hasInexactNumber,
  type JsonObject,
  parseRequestBody,
} from '../../formats/json/canonical.ts'
import { isLargeBody } from '../../formats/large-bodies/read-large-body.ts'
import { contentTypeOfForm, parseMultipartForm, readFormValue } from '../../formats/multipart-form.ts'
import {
  findStoredObjectReferences,
  referenceKindOf,
  type StoredObjectReference,
} from '../../formats/stored-object-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { PASS_THROUGH_OPERATIONS, type PassThroughOperation } from '../../providers/pass-through-operations.ts'
import { renameModelInBody, renameModelInLongBody } from '../../providers/rename-model.ts'
import type { PassThroughBody } from '../../providers/upstream.ts'
import { measureFormAudio } from '../request/audio-length.ts'
import { resolveAlias } from '../request/change-model.ts'
import { readModel } from '../request/parse-request.ts'
import type { PassThroughQuery } from '../request/query.ts'
import type { ProxyRequest } from '../request/request.ts'
import type { PipelineServices } from './request-context.ts'

/** Throws what reading a body throws, and a 400 that names the field or header. */
export async function readPassThroughRequest(
  request: ProxyRequest,
  resolvedKey: ResolvedKey,
  stages: PipelineServices,
): Promise<PassThroughQuery> {
  const { target, headers, body } = request
  if (target.kind !== 'operation') throw new Error('Only operations are passed on')
  const { operation, vendor } = target
  const control = readCacheControl(headers)
  // What is meant without a model is OpenAI's.
  const defaultModel = vendor === undefined ? PASS_THROUGH_OPERATIONS[operation].defaultModel : null
  const describe = (read: ParsedPassThroughBody) => describePassed(operation, read, { headers, control, defaultModel })
  const read = await readPassThroughBody(request, PASS_THROUGH_OPERATIONS[operation].acceptsForms, resolvedKey, stages)
  const query = await resolveAlias(describe(read), resolvedKey, async model => {
    const bytes = await renamePassed(read, model, resolvedKey)
    return describe(
      await parsePassedBody(bytes, read.passThroughBody.contentType, {
        reserveMemory: body.reserveMemory,
        resolvedKey,
        ...stages,
      }),
    )
  })
  if (PASS_THROUGH_OPERATIONS[operation].acceptsAudio) query.audio = measureFormAudio(query.passThroughBody.form)
  return query
}

function describePassed(
  operation: PassThroughOperation,
  { passThroughBody, json, references }: ParsedPassThroughBody,
  { defaultModel, ...controlled }: Pick<PassThroughQuery, 'headers' | 'control'> & { defaultModel: string | null },
): PassThroughQuery {
  const { isCacheable } = PASS_THROUGH_OPERATIONS[operation]
  const { fields } = passThroughBody
  const model = defaultModel !== null && (fields.model ?? null) === null ? defaultModel : readModel(fields)
  const stream = isStreamed(fields)
  return {
    ...(json ?? NO_JSON),
    ...controlled,
    kind: 'passed',
    endpoint: operation,
    model,
    stream,
    body: fields,
    passThroughBody,
    audio: null,
    references,
    isCacheable: isCacheable && !stream && json !== null,
    get text() {
      return new TextDecoder().decode(passThroughBody.bytes)
    },
  }
}

/** The same bytes with another model. */
async function renamePassed(
  { passThroughBody, json }: ParsedPassThroughBody,
  model: string,
  { project_id: owner }: ResolvedKey,
): Promise<Uint8Array> {
  if (json?.isLarge) return renameModelInLongBody({ bodyBytes: passThroughBody.bytes, owner }, model)
  return renameModelInBody(passThroughBody, model).bytes
}

const NO_JSON = { canonicalBody: '', hasInexactNumber: false, isLarge: false }

/** In a form, booleans are text. */
function isStreamed({ stream, stream_format }: JsonObject): boolean {
  if (![undefined, null, true, false, 'true', 'false'].some(known => known === stream)) {
    throw invalidRequestError('stream must be true or false.', 'stream')
  }
  return stream === true || stream === 'true' || stream_format === 'sse'
}

export interface ParsedPassThroughBody {
  passThroughBody: PassThroughBody
  /** For JSON only: the fields that count, and whether serializing them again could change a number. */
  json: { canonicalBody: string; hasInexactNumber: boolean; isLarge: boolean } | null
  /** Objects kept by a provider that the body names. */
  references: StoredObjectReference[]
}

/** As the body was read, whatever else its client called it. */
const JSON_TYPE = 'application/json'
/** No name, number or boolean in a form is longer than this. */
const MAX_VALUE_BYTES = 8_192
/** Fields that decide here, or what it costs. A provider could read a repeated one, or a variant such as `model[]`, differently. */
const DECISIVE =
  /^\s*(model|purpose|n|size|quality|partial_images|frame_count|output_format|response_format)\s*(?:\[.*)?$/

/** Throws 400, 408, 413, 415 or 503. */
export async function readPassThroughBody(
  { body, headers }: Pick<ProxyRequest, 'body' | 'headers'>,
  takesForms: boolean,
  resolvedKey: ResolvedKey,
  { largeBodies }: Pick<PipelineServices, 'largeBodies'>,
): Promise<ParsedPassThroughBody> {
  const bytes = await body.readBytes(takesForms)
  const contentType = headers.get('content-type') ?? JSON_TYPE
  return parsePassedBody(bytes, contentType, { reserveMemory: body.reserveMemory, resolvedKey, largeBodies })
}

async function parsePassedBody(
  bytes: Uint8Array,
  contentType: string,
  {
    reserveMemory,
    resolvedKey,
    largeBodies,
  }: Pick<ProxyRequest['body'], 'reserveMemory'> & Pick<PipelineServices, 'largeBodies'> & { resolvedKey: ResolvedKey },
): Promise<ParsedPassThroughBody> {
  if (/^\s*multipart\/form-data/i.test(contentType)) return readFormBody(bytes, contentType)
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { owner: resolvedKey.project_id, hold: reserveMemory })
    const passed = { bytes: large.bytes, contentType: JSON_TYPE, fields: large.body, form: null }
    return { passThroughBody: passed, json: { ...large, isLarge: true }, references: large.references }
  }
  const text = decodeUtf8(bytes)
  const fields = parseRequestBody(text)
  const json = { canonicalBody: canonicalizeBody(fields), hasInexactNumber: hasInexactNumber(text), isLarge: false }
  const references = findStoredObjectReferences(fields, json.canonicalBody)
  return { passThroughBody: { bytes, contentType: JSON_TYPE, fields, form: null }, json, references }
}

function readFormBody(bytes: Uint8Array, contentType: string): ParsedPassThroughBody {
  const form = parseMultipartForm(bytes, contentType)
  // Null prototype: a field called __proto__ is a field like any other.
  const fields: JsonObject = Object.create(null)
  const references: StoredObjectReference[] = []
  for (const part of form.parts) {
    const { name, isFile, start, end } = part
    const isValue = !isFile && end - start <= MAX_VALUE_BYTES
    const decisive = DECISIVE.exec(name)?.[1]
    if (decisive !== undefined && !(isValue && name === decisive && !(name in fields)))
      throw invalidRequestError(`The form must name one ${decisive}, as text.`, decisive)
    const kind = referenceKindOf(name)
    if (kind && !isValue) throw invalidRequestError(`${name} must be an id.`, name)
    if (!isValue) continue
    const value = readFormValue(form, part)
    fields[name] = value
    if (kind) references.push({ kind, id: value, field: name })
  }
  return { passThroughBody: { bytes, contentType: contentTypeOfForm(form), fields, form }, json: null, references }
}
