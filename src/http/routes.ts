/** The HTTP server: its paths, and nothing that is not HTTP. */
import { type AnyElysia, Elysia } from 'elysia'
import { createDispatch, type DispatchOptions } from './dispatch.ts'
import type { Incoming } from './incoming.ts'
import { methodsOf, notFound, readPath, TARGETS } from './paths.ts'

/** `read-body.ts` reads bodies, after the request is admitted. */
const NO_PARSING = { parse: 'none' } as const

export interface HttpOptions extends DispatchOptions {
  /** Controllers with paths of their own beside the proxy's. */
  controllers?: readonly AnyElysia[]
}

export function createHttp({ controllers = [], ...options }: HttpOptions) {
  const { answer, answerPreflight, answerError } = createDispatch(options)

  /** Answers a path that is not listed: another spelling of one, or an unknown path. */
  function answerElsewhere(incoming: Incoming): Response | Promise<Response> {
    const { pathname } = new URL(incoming.request.url)
    const target = readPath(pathname)
    return target ? answer(incoming, target) : answerError(notFound(pathname), incoming)
  }

  const bare = new Elysia({
    normalize: false,
    // Otherwise Elysia misreads where the path begins for a host of a few letters, such as http://api/.
    handler: { standardHostname: false },
    serve: {
      // Prevents error pages that show source code.
      development: false,
      // `read-body.ts` enforces our limit with a proper error; Bun's would have no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    },
  })
  // Before the hooks below, which must not apply to controllers.
  for (const controller of controllers) bare.use(controller)
  const app = bare
    .onRequest(({ request }) => (request.method === 'OPTIONS' ? answerPreflight(request) : undefined))
    // Elysia prepares the properties that a handler destructures: naming the whole context would parse it for nothing.
    .all('/*', ({ request, server }) => answerElsewhere({ request, server }), NO_PARSING)
    .onError(({ code, error, request, server }) => {
      const incoming = { request, server }
      return answerError(code === 'NOT_FOUND' ? notFound(new URL(request.url).pathname) : error, incoming)
    })
  for (const [path, target] of Object.entries(TARGETS)) {
    const handler = ({ request, server }: Incoming) => answer({ request, server }, target)
    for (const method of [...methodsOf(target), 'ALL']) app.route(method, path, handler, NO_PARSING)
  }
  return app
}
