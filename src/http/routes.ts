/** The HTTP face: paths and methods, and nothing that is not HTTP. */
import { Elysia } from 'elysia'
import { invalidRequest, refuse } from '../errors.ts'
import { type AnswerOptions, createAnswers, type Incoming } from './answer.ts'
import { ENDPOINTS, HEALTH, MODELS, notFound, readPath } from './paths.ts'

export function createHttp(options: AnswerOptions) {
  const { answerEndpoint, answerModels, answerHealth, answerPreflight, answerError } = createAnswers(options)

  const wrongMethod = (incoming: Incoming, allowed: string) =>
    answerError(refuse('methodNotAllowed', { allowed }), incoming)

  /** A path that is not one of ours as it stands: another spelling of one, or nothing. */
  function answerElsewhere(incoming: Incoming): Response | Promise<Response> {
    const { method, url } = incoming.request
    const { pathname } = new URL(url)
    const target = readPath(pathname)
    if (target === null) return answerError(notFound(pathname), incoming)
    if (target.kind === 'endpoint') {
      if (method !== 'POST') return wrongMethod(incoming, 'POST')
      return answerEndpoint(incoming, target.endpoint, target.model)
    }
    if (method !== 'GET') return wrongMethod(incoming, 'GET')
    if (target.kind === 'health') return answerHealth(incoming)
    return answerModel(incoming, target.kind === 'models' ? '' : target.id)
  }

  /** `escaped`: with its slashes escaped or not; empty where the path names none. */
  function answerModel(incoming: Incoming, escaped: string): Response | Promise<Response> {
    try {
      return answerModels(incoming, escaped === '' ? null : decodeURIComponent(escaped))
    } catch {
      return answerError(
        invalidRequest('The model in the path is not valid: its percent signs must begin an escaped UTF-8 character.'),
        incoming,
      )
    }
  }

  const app = new Elysia({
    normalize: false,
    // Else a host of a few letters, such as http://api/, hides where its path begins.
    handler: { standardHostname: false },
    serve: {
      // No error page that shows source code.
      development: false,
      // `read-body.ts` keeps our own limit, and says so; Bun's would answer bare.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    },
  })
    .onRequest(({ request }) => (request.method === 'OPTIONS' ? answerPreflight(request) : undefined))
    .get(HEALTH, answerHealth)
    .all(HEALTH, incoming => wrongMethod(incoming, 'GET'), NOT_READ)
    .get(MODELS, incoming => answerModels(incoming, null))
    .all(MODELS, incoming => wrongMethod(incoming, 'GET'), NOT_READ)
    // A model's name may have slashes.
    .get(`${MODELS}/*`, incoming =>
      answerModel(incoming, new URL(incoming.request.url).pathname.slice(MODELS.length + 1)),
    )
    .all(`${MODELS}/*`, incoming => wrongMethod(incoming, 'GET'), NOT_READ)
    .all('/*', answerElsewhere, NOT_READ)
    .onError(({ error, request, server }) => answerError(error, { request, server }))
  for (const [path, endpoint] of Object.entries(ENDPOINTS)) {
    app
      .post(path, incoming => answerEndpoint(incoming, endpoint, null), NOT_READ)
      .all(path, incoming => wrongMethod(incoming, 'POST'), NOT_READ)
  }
  return app
}

/** The body is read by the pipeline, or not at all. */
const NOT_READ = { parse: 'none' } as const
