/** Adds the model in the path to a body without one, as Azure's clients send it. */
import { decodeUtf8 } from '../json/decode-utf8.ts'
import { parseJsonObject } from '../json/json-object.ts'
import { readForm, withValue } from '../multipart/read-form.ts'
import type { RequestBody } from '../pipeline/exchange.ts'

/** A longer body that contains "model" anywhere counts as naming one: parsing it to find out would block the event loop. */
const MAX_SEARCHED = 262_144

/** JSON or, if the operation accepts it, a form. */
export function namedBody(body: RequestBody, contentType: string | null, model: string): RequestBody {
  const isForm = /^\s*multipart\/form-data/i.test(contentType ?? '')
  return {
    ...body,
    async readBytes(takesForms) {
      const bytes = await body.readBytes(takesForms)
      return isForm
        ? nameModelInForm(bytes, contentType ?? '', model)
        : Buffer.from(nameModel(decodeUtf8(bytes), model))
    },
  }
}

function nameModelInForm(bytes: Uint8Array, contentType: string, model: string): Uint8Array {
  const form = readForm(bytes, contentType)
  return form.parts.some(({ name }) => name === 'model') ? bytes : withValue(form, 'model', model)
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
  if (bodyText.length > MAX_SEARCHED) return true
  const body = parseJsonObject(bodyText)
  return body === undefined || Object.hasOwn(body, 'model')
}
