/** Renames the model of requests to a provider that knows the model by another name than the client. */

import { WorkerJob } from '../event-loop/worker-pool.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import { setFormValue } from '../formats/multipart-form.ts'
import { isLongRequest, replaceLongBody, runBodyJob } from './long-body.ts'
import type { PassThroughBody, PassThroughRequest, Provider, RealtimeSessionRequest } from './upstream.ts'

export interface RenameModelInput {
  bytes: Uint8Array
  name: string
}

const RENAME_MODEL = new WorkerJob<RenameModelInput, Uint8Array>(
  new URL('./jobs.ts', import.meta.url),
  'renameModelJob',
)

/** Returns the provider with `name` as the model of each request. The response keeps the provider's name for the model. */
export function renameModel(provider: Provider, name: string): Provider {
  const { passThrough, resolveRealtime, withKey } = provider
  return {
    ...provider,
    modelName: name,
    ...(passThrough && {
      passThrough: (request: PassThroughRequest) =>
        passThrough({ ...request, body: request.body && renameModelInBody(request.body, name) }),
    }),
    ...(resolveRealtime && {
      resolveRealtime: (request: RealtimeSessionRequest) => resolveRealtime({ ...request, model: name }),
    }),
    ...(withKey && { withKey: (key: string) => renameModel(withKey(key), name) }),
    send: async request => {
      if (isLongRequest(request)) {
        const renamed = await renameModelInLongBody(request, name)
        return provider.send(replaceLongBody(request, { ...request.body, model: name }, renamed))
      }
      const bodyText = renameModelInText(request.bodyText, name)
      return provider.send({ ...request, bodyText, body: { ...request.body, model: name } })
    },
  }
}

/** Returns a copy of a long body with another model. A worker creates it. */
export function renameModelInLongBody(
  request: { bodyBytes: Uint8Array; owner?: number },
  name: string,
): Promise<Uint8Array> {
  return runBodyJob(RENAME_MODEL, request, { name })
}

/** Returns the body, which is JSON or a form, with another model. */
export function renameModelInBody(body: PassThroughBody, name: string): PassThroughBody {
  const fields = { ...body.fields, model: name }
  if (body.form) return { ...body, fields, bytes: setFormValue(body.form, 'model', name) }
  return { ...body, fields, bytes: renameModelInBytes(body.bytes, name) }
}

export function renameModelInBytes(bytes: Uint8Array, name: string): Uint8Array {
  return new TextEncoder().encode(renameModelInText(new TextDecoder().decode(bytes), name))
}

/** Returns the JSON text with another model. Numbers are not rounded. */
export function renameModelInText(body: string, name: string): string {
  return JSON.stringify({ ...(parseLosslessJson(body) as JsonObject), model: name })
}
