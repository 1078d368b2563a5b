/** Renames the model of requests to a provider that knows the model by another name than the client. */
import { setFormValue } from '../formats/multipart-form.ts'
import { applyFieldChanges, setFieldsInBytes } from './long-body.ts'
import type { PassThroughBody, PassThroughRequest, Provider, RealtimeSessionRequest } from './upstream.ts'

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
    send: async request => provider.send(await applyFieldChanges(request, { model: name })),
  }
}

/** Returns the body, which is JSON or a form, with another model. */
export function renameModelInBody(body: PassThroughBody, name: string): PassThroughBody {
  const fields = { ...body.fields, model: name }
  if (body.form) return { ...body, fields, bytes: setFormValue(body.form, 'model', name) }
  return { ...body, fields, bytes: setFieldsInBytes(body.bytes, { model: name }) }
}
