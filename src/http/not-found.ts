/** Creates the 404 for an unknown path. Its message says what to change. */
import { createError, type ProxyError } from '../errors/errors.ts'
import { GEMINI_METHODS, OTHER_GEMINI_METHOD } from './gemini-api.ts'

/** Endpoints of other APIs that some clients use by default, and advice on what to set instead. */
const UNSUPPORTED_ENDPOINTS: readonly [pattern: RegExp, api: string, advice: string][] = [
  [
    /\/(assistants|threads)(\/|$)/,
    'OpenAI’s Assistants API',
    'Send the whole conversation to POST /v1/chat/completions.',
  ],
  [
    /\/(conversations|vector_stores|containers|uploads|videos)(\/|$)/,
    'a part of OpenAI’s API that this proxy does not forward',
    'It forwards the operations that its documentation of pass-through operations lists.',
  ],
  [
    /\/realtime\/\w+(\/|$)/,
    'a part of OpenAI’s Realtime API that this proxy does not have',
    'Open a WebSocket at /v1/realtime with a key of this proxy.',
  ],
  [
    OTHER_GEMINI_METHOD,
    'a part of Gemini’s API that this proxy does not have',
    `It has these methods: ${GEMINI_METHODS.join(', ')}.`,
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

/** Returns a 404 that says what to change. It quotes nothing of the path except known names. */
export function createNotFoundError(pathname: string): ProxyError {
  const known = UNSUPPORTED_ENDPOINTS.find(([pattern]) => pattern.test(pathname))
  if (!known) return createError('pathNotFound')
  const [pattern, api, advice] = known
  const match = pattern.exec(pathname)
  const endpoint = (match?.groups?.called ?? match?.[0] ?? '').replace(/^\/|\/$/g, '')
  return createError('endpointNotProvided', { endpoint, api, advice })
}
