/** Validates a request as strictly as Anthropic does, so that a wrong translation fails its test. */
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { type ApiError, invalid } from './api-error.ts'
import { findSettingError } from './check-model.ts'
import { findTurnError } from './check-turns.ts'
import { findModel } from './models.ts'
import { findShapeError } from './request-schema.ts'
import type { JsonObject } from './scenario.ts'
import { findForgedReasoning } from './thinking-signature.ts'

const VERSIONS = ['2023-06-01', '2026-10-21']

/** Returns null for a valid request. */
export function checkRequest(request: RecordedRequest, apiKey: string | undefined): ApiError | null {
  const { 'x-api-key': key, 'anthropic-version': version = '', 'content-type': type } = request.headers
  if (request.method !== 'POST' || request.path !== '/v1/messages') {
    return { status: 404, type: 'not_found_error', message: 'Not Found' }
  }
  if (key === undefined || (apiKey !== undefined && key !== apiKey)) {
    return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' }
  }
  if (!VERSIONS.includes(version)) return invalid(`anthropic-version: "${version}" is not a valid version`)
  if (type !== 'application/json') return invalid('content-type: must be application/json')
  return checkBody(request.body, version)
}

function checkBody(body: unknown, version: string): ApiError | null {
  const shape = findShapeError(body)
  if (shape !== null) return invalid(shape)
  const request = body as JsonObject
  const model = findModel(String(request.model))
  if (!model) return { status: 404, type: 'not_found_error', message: `model: ${String(request.model)}` }
  const error = findTurnError(request) ?? findSettingError(request, model, version)
  if (error !== null) return invalid(error)
  const forged = findForgedReasoning(request)
  return forged === null ? null : invalid(`${forged}: Invalid \`signature\` in \`thinking\` block.`)
}
