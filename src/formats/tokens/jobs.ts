/** Implements the worker's jobs that count tokens. */
import type { JobResult } from '../../event-loop/worker-pool.ts'
import type { Endpoint } from '../endpoint.ts'
import { countPromptTokens, countTextTokens } from './count-tokens.ts'
import { loadEncoding } from './text-counter.ts'

/** Loads the vocabulary of modern models. */
export function prepare(): void {
  loadEncoding('o200k_base')
}

export interface TokenCountRequest {
  endpoint: Endpoint
  request: Record<string, unknown>
  /** Another text that is counted for the same model. */
  text: string
}

export interface TokenCountResult {
  promptTokens: number
  textTokens: number
}

/** A TokenCountRequest with the request as JSON text. */
export type SerializedTokenCountRequest = Omit<TokenCountRequest, 'request'> & { json: string }

/** Counts a request's prompt and the other text. */
export function countPrompt({ endpoint, json, text }: SerializedTokenCountRequest): JobResult<TokenCountResult> {
  const request: TokenCountRequest['request'] = JSON.parse(json)
  const model = typeof request.model === 'string' ? request.model : undefined
  return { output: { promptTokens: countPromptTokens(request, endpoint), textTokens: countTextTokens(text, model) } }
}

export interface TextTokenCountRequest {
  texts: readonly string[]
  model: string
}

export function countTexts({ texts, model }: TextTokenCountRequest): JobResult<number[]> {
  return { output: texts.map(text => countTextTokens(text, model)) }
}
