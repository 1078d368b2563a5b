/** Reads a request that is passed on: its bytes are kept as they came, and the fields that decide are read. */
import { readCacheControl } from '../../cache/cache-control.ts'
import { invalidRequest } from '../../errors/errors.ts'
import {
  canonicalizeBody,
  decodeUtf8,
  hasInexactNumber,
  type JsonObject,
  parseObject,
} from '../../formats/json/canonical.ts'
import { findKeptReferences, type KeptReference, kindOf } from '../../formats/kept-references.ts'
import { isLargeBody } from '../../formats/large-bodies/read-large-body.ts'
import { readForm, readValue, typeOfForm } from '../../formats/read-form.ts'
import type { Account } from '../../postgres/admit.ts'
import { OPERATIONS, type PassedOperation } from '../../providers/operations.ts'
import { renameInBody, renameInLong } from '../../providers/rename-model.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import { resolveAlias } from '../for-model.ts'
import { readModel } from '../parse-request.ts'
import type { PassedQuery } from '../query.ts'
import type { ProxyRequest } from '../request.ts'
import type { Stages } from '../request-context.ts'
import { measureForm } from './sound-length.ts'

/** Throws what reading a body throws, and a 400 that names the field or header. */
export async function readPassed(request: ProxyRequest, account: Account, stages: Stages): Promise<PassedQuery> {
  const { target, headers, body } = request
  if (target.kind !== 'operation') throw new Error('Only operations are passed on')
  const { operation, vendor } = target
  const control = readCacheControl(headers)
  // What is meant without a model is OpenAI's.
  const defaultModel = vendor === undefined ? OPERATIONS[operation].defaultModel : null
  const describe = (read: PassedBodyRead) => describePassed(operation, read, { headers, control, defaultModel })
  const read = await readPassedBody(request, OPERATIONS[operation].takesForms, account, stages)
  const query = await resolveAlias(describe(read), account, async model => {
    const bytes = await renamePassed(read, model, account)
    return describe(await parsePassedBody(bytes, read.passed.contentType, { hold: body.hold, account, ...stages }))
  })
  if (OPERATIONS[operation].hearsSound) query.sound = measureForm(query.passed.form)
  return query
}

function describePassed(
  operation: PassedOperation,
  { passed, json, references }: PassedBodyRead,
  { defaultModel, ...controlled }: Pick<PassedQuery, 'headers' | 'control'> & { defaultModel: string | null },
): PassedQuery {
  const { isCached } = OPERATIONS[operation]
  const { fields } = passed
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
    passed,
    sound: null,
    references,
    isCacheable: isCached && !stream && json !== null,
    get text() {
      return new TextDecoder().decode(passed.bytes)
    },
  }
}

/** The same bytes with another model. */
async function renamePassed(
  { passed, json }: PassedBodyRead,
  model: string,
  { project_id: owner }: Account,
): Promise<Uint8Array> {
  if (json?.isLarge) return renameInLong({ bodyBytes: passed.bytes, owner }, model)
  return renameInBody(passed, model).bytes
}

const NO_JSON = { canonicalBody: '', hasInexactNumber: false, isLarge: false }

/** In a form, booleans are text. */
function isStreamed({ stream, stream_format }: JsonObject): boolean {
  if (![undefined, null, true, false, 'true', 'false'].some(known => known === stream)) {
    throw invalidRequest('stream must be true or false.', 'stream')
  }
  return stream === true || stream === 'true' || stream_format === 'sse'
}

export interface PassedBodyRead {
  passed: PassedBody
  /** For JSON only: the fields that count, and whether serializing them again could change a number. */
  json: { canonicalBody: string; hasInexactNumber: boolean; isLarge: boolean } | null
  /** Objects kept by a provider that the body names. */
  references: KeptReference[]
}

/** As the body was read, whatever else its client called it. */
const JSON_TYPE = 'application/json'
/** No name, number or boolean in a form is longer than this. */
const MAX_VALUE_BYTES = 8_192
/** Fields that decide here, or what it costs. A provider could read a repeated one, or a variant such as `model[]`, differently. */
const DECISIVE =
  /^\s*(model|purpose|n|size|quality|partial_images|frame_count|output_format|response_format)\s*(?:\[.*)?$/

/** Throws 400, 408, 413, 415 or 503. */
export async function readPassedBody(
  { body, headers }: Pick<ProxyRequest, 'body' | 'headers'>,
  takesForms: boolean,
  account: Account,
  { largeBodies }: Pick<Stages, 'largeBodies'>,
): Promise<PassedBodyRead> {
  const bytes = await body.readBytes(takesForms)
  const contentType = headers.get('content-type') ?? JSON_TYPE
  return parsePassedBody(bytes, contentType, { hold: body.hold, account, largeBodies })
}

async function parsePassedBody(
  bytes: Uint8Array,
  contentType: string,
  {
    hold,
    account,
    largeBodies,
  }: Pick<ProxyRequest['body'], 'hold'> & Pick<Stages, 'largeBodies'> & { account: Account },
): Promise<PassedBodyRead> {
  if (/^\s*multipart\/form-data/i.test(contentType)) return readFormBody(bytes, contentType)
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { owner: account.project_id, hold })
    const passed = { bytes: large.bytes, contentType: JSON_TYPE, fields: large.body, form: null }
    return { passed, json: { ...large, isLarge: true }, references: large.references }
  }
  const text = decodeUtf8(bytes)
  const fields = parseObject(text)
  const json = { canonicalBody: canonicalizeBody(fields), hasInexactNumber: hasInexactNumber(text), isLarge: false }
  const references = findKeptReferences(fields, json.canonicalBody)
  return { passed: { bytes, contentType: JSON_TYPE, fields, form: null }, json, references }
}

function readFormBody(bytes: Uint8Array, contentType: string): PassedBodyRead {
  const form = readForm(bytes, contentType)
  // Null prototype: a field called __proto__ is a field like any other.
  const fields: JsonObject = Object.create(null)
  const references: KeptReference[] = []
  for (const part of form.parts) {
    const { name, isFile, start, end } = part
    const isValue = !isFile && end - start <= MAX_VALUE_BYTES
    const decisive = DECISIVE.exec(name)?.[1]
    if (decisive !== undefined && !(isValue && name === decisive && !(name in fields)))
      throw invalidRequest(`The form must name one ${decisive}, as text.`, decisive)
    const kind = kindOf(name)
    if (kind && !isValue) throw invalidRequest(`${name} must be an id.`, name)
    if (!isValue) continue
    const value = readValue(form, part)
    fields[name] = value
    if (kind) references.push({ kind, id: value, field: name })
  }
  return { passed: { bytes, contentType: typeOfForm(form), fields, form }, json: null, references }
}
