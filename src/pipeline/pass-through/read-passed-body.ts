/** Reads a pass-through request's body: the bytes are kept as they came, and its fields are read. */

import { invalidRequest } from '../../errors.ts'
import { findKeptReferences, type KeptReference, kindOf } from '../../formats/kept-references.ts'
import { canonicalizeBody } from '../../json/canonical.ts'
import { decodeUtf8 } from '../../json/decode-utf8.ts'
import { hasInexactNumber } from '../../json/inexact-number.ts'
import type { JsonObject } from '../../json/json-object.ts'
import { isLargeBody, type LargeBodyReader } from '../../large-bodies/read-large-body.ts'
import { readForm, readValue } from '../../multipart/read-form.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import type { ProxyRequest } from '../exchange.ts'
import { parseObject } from '../parse-request.ts'

export interface ReadBody {
  passed: PassedBody
  /** For JSON only: the fields that count, and whether serializing them again could change a number. */
  json: { canonicalBody: string; hasInexactNumber: boolean; isLarge: boolean } | null
  /** Objects kept by a provider that the body names. */
  references: KeptReference[]
}

/** No name, number or boolean in a form is longer than this. */
const MAX_VALUE_BYTES = 8_192
/** Fields that decide here. A provider could read a repeated one, or a variant such as `model[]`, differently. */
const DECISIVE = /^\s*(model|purpose)\s*(?:\[.*)?$/

/** Throws 400, 408, 413, 415 or 503. */
export async function readPassedBody(
  { body, headers }: Pick<ProxyRequest, 'body' | 'headers'>,
  takesForms: boolean,
  largeBodies: LargeBodyReader,
): Promise<ReadBody> {
  const bytes = await body.readBytes(takesForms)
  const contentType = headers.get('content-type') ?? 'application/json'
  if (/^\s*multipart\/form-data/i.test(contentType)) return readFormBody(bytes, contentType)
  if (isLargeBody(bytes)) {
    const large = await largeBodies.read(bytes, { hold: body.hold })
    const passed = { bytes: large.bytes, contentType, fields: large.body, form: null }
    return { passed, json: { ...large, isLarge: true }, references: large.references }
  }
  const text = decodeUtf8(bytes)
  const fields = parseObject(text)
  const json = { canonicalBody: canonicalizeBody(fields), hasInexactNumber: hasInexactNumber(text), isLarge: false }
  const references = findKeptReferences(fields, json.canonicalBody)
  return { passed: { bytes, contentType, fields, form: null }, json, references }
}

function readFormBody(bytes: Uint8Array, contentType: string): ReadBody {
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
  return { passed: { bytes, contentType, fields, form }, json: null, references }
}
