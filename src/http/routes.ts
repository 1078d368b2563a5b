/** The HTTP face: paths and methods, and nothing that is not HTTP. */
import { type AnyElysia, Elysia } from 'elysia'
import { invalidRequest, refuse } from '../errors.ts'
import { type AnswerOptions, createAnswers, type Incoming, type KeptTarget } from './answer.ts'
import { CACHE_QUESTIONS, COUNTS, ENDPOINTS, HEALTH, MODELS, notFound, readPath } from './paths.ts'

/** Bodies are read by `read-body.ts`, once the request may pass. */
const NO_PARSING = { parse: 'none' } as const

export interface HttpOptions extends AnswerOptions {
  /** Rooms of their own beside the proxy's paths. */
  controllers?: readonly AnyElysia[]
}

export function createHttp({ controllers = [], ...options }: HttpOptions) {
  const {
    answerEndpoint,
    answerCount,
    answerOperation,
    answerKept,
    answerCacheQuestion,
    answerResponse,
    answerModels,
    answerHealth,
    answerPreflight,
    answerError,
  } = createAnswers(options)

  const wrongMethod = (incoming: Incoming, allowed: string) =>
    answerError(refuse('methodNotAllowed', { allowed, methods: allowed.replace(', ', ' and ') }), incoming)

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
    if (target.kind === 'count') {
      return method === 'POST' ? answerCount(incoming, target.endpoint) : wrongMethod(incoming, 'POST')
    }
    if (target.kind === 'operation') {
      return method === 'POST'
        ? answerOperation(incoming, target.operation, target.model)
        : wrongMethod(incoming, 'POST')
    }
    if (target.kind === 'kept') {
      const allowed = methodsOfKept(target)
      const asked = allowed.find(known => known === method)
      return asked ? answerKept(incoming, asked, target) : wrongMethod(incoming, allowed.join(', '))
    }
    if (target.kind === 'response') {
      const allowed = METHODS_OF_RESPONSES[target.part] ?? []
      const asked = allowed.find(known => known === method)
      return asked ? answerResponse(incoming, asked, target) : wrongMethod(incoming, allowed.join(', '))
    }
    if (target.kind === 'cache') {
      return method === 'POST' ? answerCacheQuestion(incoming, target.question) : wrongMethod(incoming, 'POST')
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

  const bare = new Elysia({
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
  // Before the hooks below, which are not theirs.
  for (const controller of controllers) bare.use(controller)
  const app = bare
    .onRequest(({ request }) => (request.method === 'OPTIONS' ? answerPreflight(request) : undefined))
    // What a handler names is what Elysia makes ready for it: a whole context would be parsed for nothing.
    .get(HEALTH, ({ request, server }) => answerHealth({ request, server }), NO_PARSING)
    .all(HEALTH, ({ request, server }) => wrongMethod({ request, server }, 'GET'), NO_PARSING)
    .get(MODELS, ({ request, server }) => answerModels({ request, server }, null), NO_PARSING)
    .all(MODELS, ({ request, server }) => wrongMethod({ request, server }, 'GET'), NO_PARSING)
    .all('/*', ({ request, server }) => answerElsewhere({ request, server }), NO_PARSING)
    .onError(({ code, error, request, server }) => {
      const incoming = { request, server }
      return answerError(code === 'NOT_FOUND' ? notFound(new URL(request.url).pathname) : error, incoming)
    })
  for (const [path, endpoint] of Object.entries(ENDPOINTS)) {
    app
      .post(path, ({ request, server }) => answerEndpoint({ request, server }, endpoint, null), NO_PARSING)
      .all(path, ({ request, server }) => wrongMethod({ request, server }, 'POST'), NO_PARSING)
  }
  for (const [path, endpoint] of Object.entries(COUNTS)) {
    app
      .post(path, ({ request, server }) => answerCount({ request, server }, endpoint), NO_PARSING)
      .all(path, ({ request, server }) => wrongMethod({ request, server }, 'POST'), NO_PARSING)
  }
  for (const [path, question] of Object.entries(CACHE_QUESTIONS)) {
    app
      .post(path, ({ request, server }) => answerCacheQuestion({ request, server }, question), NO_PARSING)
      .all(path, ({ request, server }) => wrongMethod({ request, server }, 'POST'), NO_PARSING)
  }
  return app
}

/** By the part of a response that is asked for. */
const METHODS_OF_RESPONSES: Record<string, readonly ('GET' | 'POST' | 'DELETE')[]> = {
  '': ['GET', 'DELETE'],
  '/cancel': ['POST'],
  '/input_items': ['GET'],
}

function methodsOfKept({ collection, id, part }: KeptTarget): readonly ('GET' | 'POST' | 'DELETE')[] {
  if (id === null) return ['GET', 'POST']
  if (part === '/cancel') return ['POST']
  return collection === 'files' && part === '' ? ['GET', 'DELETE'] : ['GET']
}
