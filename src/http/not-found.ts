/** Says what to change for a path that leads nowhere. */
import { createError, type ProxyError } from '../errors/errors.ts'
import { GEMINI_PATH } from './paths.ts'

/** Endpoints of OpenAI's and Anthropic's APIs that some clients use by default, and what to set instead. */
const ELSEWHERE: readonly [pattern: RegExp, api: string, advice: string][] = [
  [
    /\/(assistants|threads)(\/|$)/,
    'OpenAI’s Assistants API',
    'Send the whole conversation to POST /v1/chat/completions.',
  ],
  [
    /\/(conversations|vector_stores|containers|uploads|videos)(\/|$)/,
    'a part of OpenAI’s API that this proxy does not pass on',
    'It passes on what is listed in its documentation of pass-through operations.',
  ],
  [
    /\/realtime\/\w+(\/|$)/,
    'a part of OpenAI’s Realtime API that this proxy does not have',
    'Open a WebSocket at /v1/realtime, with a key of the proxy’s.',
  ],
  [
    GEMINI_PATH,
    'Gemini’s API',
    'Choose your client’s provider for OpenAI-compatible servers, with a base address that ends in /v1.',
  ],
  [
    /\/[a-z]+-model$/,
    'the protocol of Vercel’s AI Gateway',
    'Choose your client’s provider for OpenAI-compatible servers, with a base address that ends in /v1.',
  ],
  [
    /\/(fine_tuning|evals|skills|agents|sessions|organizations)(\/|$)/,
    'an API that this proxy does not forward',
    'Give your client the vendor’s own address for these requests.',
  ],
]

/** The 404 that says what to change. Quotes nothing of the path but known names. */
export function createNotFoundError(pathname: string): ProxyError {
  const known = ELSEWHERE.find(([pattern]) => pattern.test(pathname))
  if (!known) return createError('pathNotFound')
  const [pattern, api, advice] = known
  const found = pattern.exec(pathname)
  const endpoint = (found?.groups?.called ?? found?.[0] ?? '').replace(/^\/|\/$/g, '')
  return createError('endpointNotProvided', { endpoint, api, advice })
}
