/** Adds the model in the path to a body without one, as Azure's clients send it. */
import { copyInTurns } from '../event-loop/copy-in-turns.ts'
import { LONGEST_ON_LOOP } from '../event-loop/off-loop.ts'
import { decodeUtf8 } from '../json/decode-utf8.ts'
import { parseJsonObject } from '../json/json-object.ts'
import { readForm, withValue } from '../multipart/read-form.ts'
import type { RequestBody } from '../pipeline/exchange.ts'

/** JSON, or a form for operations that accept one. */
export function namedBody(body: RequestBody, contentType: string | null, model: string): RequestBody {
  const isForm = /^\s*multipart\/form-data/i.test(contentType ?? '')
  return {
    ...body,
    async readBytes(takesForms) {
      const bytes = await body.readBytes(takesForms)
      return isForm
        ? nameModelInForm(bytes, contentType ?? '', model)
        : bytes.length > LONGEST_ON_LOOP
          ? nameModelInTurns(bytes, model)
          : Buffer.from(nameModel(decodeUtf8(bytes), model))
    },
  }
}

function nameModelInForm(bytes: Uint8Array, contentType: string, model: string): Uint8Array {
  const form = readForm(bytes, contentType)
  return form.parts.some(({ name }) => name === 'model') ? bytes : withValue(form, 'model', model)
}

const OPENING_BRACE = 0x7b

/** A long body with "model" anywhere is assumed to name its model: parsing it only to find out would stall other requests. */
async function nameModelInTurns(bytes: Uint8Array, model: string): Promise<Uint8Array> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = body.indexOf(OPENING_BRACE)
  if (start < 0 || body.includes('"model"')) return bytes
  // A field follows the brace; else the worker refuses the body.
  const head = Buffer.concat([body.subarray(0, start + 1), Buffer.from(`"model":${JSON.stringify(model)},`)])
  return copyInTurns(body.subarray(start + 1), { before: head })
}

/** A model in the body wins. Edits the text, so that everything else stays as the client wrote it, down to the last digit. */
export function nameModel(bodyText: string, model: string): string {
  const start = bodyText.indexOf('{')
  if (start < 0 || namesModel(bodyText)) return bodyText
  const isEmpty = /^\s*\}/.test(bodyText.slice(start + 1, start + 100))
  return `${bodyText.slice(0, start + 1)}"model":${JSON.stringify(model)}${isEmpty ? '' : ','}${bodyText.slice(start + 1)}`
}

function namesModel(bodyText: string): boolean {
  if (!/"model"\s*:/.test(bodyText)) return false
  const body = parseJsonObject(bodyText)
  return body === undefined || Object.hasOwn(body, 'model')
}
