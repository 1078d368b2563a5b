/** Maps each target that a path can have to its handler. */
import type { Config } from '../config.ts'
import { refuse } from '../errors.ts'
import type { KeptObjects } from '../pipeline/kept-objects/kept-objects.ts'
import type { PassThrough } from '../pipeline/pass-through/pass-through.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { StoredResponses } from '../pipeline/stored-responses.ts'
import type { TokenCounter } from '../pipeline/token-counter.ts'
import type { Log } from '../telemetry/log.ts'
import type { Refusals } from '../telemetry/refusals.ts'
import { type AnswerOptions, createAnswer, type Handler } from './answer.ts'
import { createCors } from './cors.ts'
import { createFreeAnswers, type FreeAnswersOptions } from './free-answers.ts'
import { createEntrance, type Incoming } from './incoming.ts'
import { type CacheQuestion, type KeptTarget, type Method, methodOf, methodsOf, type Target } from './paths.ts'
import { leaveBody } from './read-body.ts'
import { respond } from './respond.ts'

export interface DispatchOptions extends AnswerOptions, FreeAnswersOptions {
  config: AnswerOptions['config'] & Pick<Config, 'trustedProxies' | 'corsOrigins'>
  pipeline: Pipeline
  passThrough: PassThrough
  keptObjects: KeptObjects
  countTokens: TokenCounter
  storedResponses: StoredResponses
  /** Handlers of questions about the cache itself. */
  cacheQuestions: Record<CacheQuestion, Handler>
  refusals: Refusals
  log: Log
}

export interface Dispatch {
  /** Returns a 405 for a method that the target does not have. */
  answer(incoming: Incoming, target: Target): Response | Promise<Response>
  /** Answers a browser's preflight; undefined for any other request. */
  answerPreflight(request: Request): Response | undefined
  answerError(error: unknown, incoming: Incoming): Response
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { pipeline, passThrough, keptObjects, countTokens, storedResponses, cacheQuestions } = options
  const cors = createCors(options.config.corsOrigins)
  const entrance = createEntrance({ ...options, cors })
  const answerWith = createAnswer(options, entrance)
  const { answerModels, answerHealth } = createFreeAnswers(options, entrance)

  function answerAllowed(incoming: Incoming, method: Method, target: Target): Promise<Response> {
    switch (target.kind) {
      case 'endpoint':
        return answerWith(pipeline, incoming, target.endpoint, target.model)
      case 'count':
        return answerWith(countTokens, incoming, target.endpoint, null)
      case 'operation':
        return answerWith(request => passThrough(request, target.operation), incoming, 'chat', target.model)
      case 'kept':
        return answerWith(handleKept(keptObjects, incoming.request, method, target), incoming, 'chat', null)
      case 'response': {
        const { headers, signal, url } = incoming.request
        const asked = { id: target.id, part: target.part, method, query: new URL(url).search, headers, signal }
        return answerWith(request => storedResponses(request, asked), incoming, 'responses', null)
      }
      case 'cache':
        return answerWith(cacheQuestions[target.question], incoming, 'chat', null)
      case 'models':
        return answerModels(incoming, target.id)
      case 'health':
        return answerHealth(incoming)
    }
  }

  function answerError(error: unknown, incoming: Incoming): Response {
    return leaveBody(incoming.request, entrance.fail(error, incoming, entrance.arrive(incoming.request)))
  }

  return {
    answer(incoming, target) {
      const method = methodOf(target, incoming.request.method)
      if (method) return answerAllowed(incoming, method, target)
      const allowed = methodsOf(target).join(', ')
      return answerError(refuse('methodNotAllowed', { allowed, methods: allowed.replace(', ', ' and ') }), incoming)
    },
    answerPreflight(request) {
      const headers = cors.preflight(request)
      return headers === null ? undefined : respond({ status: 204, headers, body: '' }, entrance.arrive(request))
    },
    answerError,
  }
}

/** The handler for files and batches, or for one of them. */
function handleKept(objects: KeptObjects, { url }: Request, method: Method, target: KeptTarget): Handler {
  const { collection, id, part } = target
  if (id !== null) return request => objects.ask(request, { method, collection, id, part })
  if (method === 'POST') return request => objects.make(request, collection)
  return request => objects.list(request, { collection, search: new URL(url).searchParams })
}
