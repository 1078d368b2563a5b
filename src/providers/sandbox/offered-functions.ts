/** Reads the functions that a chat request offers, as `tools` or as the older `functions`. */

import { invalidRequest } from '../../errors.ts'
import { isJsonObject } from '../../json/canonical.ts'
import { type Request, readOptional } from './fields.ts'

export interface OfferedFunction {
  name: string
  /** JSON Schema of the arguments. */
  parameters: unknown
  /** The schema's position in the request. */
  param: string
}

const MOST_FUNCTIONS = 128
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

export function readTools(request: Request): OfferedFunction[] {
  return readList(request, 'tools').map((tool, index) => {
    const place = `tools[${index}]`
    if (!isJsonObject(tool)) throw invalidRequest(`Invalid type for '${place}': expected an object.`, place)
    if (tool.type === 'function') return readFunction(tool.function, `${place}.function`)
    throw invalidRequest(`Invalid value for '${place}.type': the sandbox knows 'function' alone.`, `${place}.type`)
  })
}

export function readFunctions(request: Request): OfferedFunction[] {
  return readList(request, 'functions').map((offered, index) => readFunction(offered, `functions[${index}]`))
}

function readList(request: Request, field: string): unknown[] {
  const list = readOptional(request, field) ?? []
  if (!Array.isArray(list)) throw invalidRequest(`Invalid type for '${field}': expected an array of objects.`, field)
  if (list.length <= MOST_FUNCTIONS) return list
  throw invalidRequest(`Invalid '${field}': at most ${MOST_FUNCTIONS} are allowed.`, field)
}

function readFunction(offered: unknown, place: string): OfferedFunction {
  if (!isJsonObject(offered)) throw invalidRequest(`Missing required parameter: '${place}'.`, place)
  const { name, description, parameters } = offered
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw invalidRequest(`Invalid '${place}.name': expected up to 64 letters, digits, '_' and '-'.`, `${place}.name`)
  }
  if (typeof (description ?? '') !== 'string') {
    throw invalidRequest(`Invalid type for '${place}.description': expected a string.`, `${place}.description`)
  }
  const param = `${place}.parameters`
  if (isJsonObject(parameters ?? {})) return { name, parameters: parameters ?? {}, param }
  throw invalidRequest(`Invalid type for '${param}': expected an object that is a JSON Schema.`, param)
}
