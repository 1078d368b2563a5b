/** Puts the model that a path names into a body that names none, as Azure's clients send it. */
import { parseJsonObject } from '../json/json-object.ts'

/** A longer body that says "model" somewhere is taken to name it: reading it only to find out would stall others. */
const MAX_SEARCHED = 262_144

/** The body's own model stands. As text: everything else stays as the client wrote it, down to the last digit. */
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
