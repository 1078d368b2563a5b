/** The HTTP face: which paths there are, and nothing that is not HTTP. */
import { type AnyElysia, Elysia } from 'elysia'
import { createDispatch, type DispatchOptions } from './dispatch.ts'
import type { Incoming } from './incoming.ts'
import { methodsOf, notFound, readPath, TARGETS } from './paths.ts'

/** Bodies are read by `read-body.ts`, once the request may pass. */
const NO_PARSING = { parse: 'none' } as const

export interface HttpOptions extends DispatchOptions {
  /** Rooms of their own beside the proxy's paths. */
  controllers?: readonly AnyElysia[]
}

export function createHttp({ controllers = [], ...options }: HttpOptions) {
  const { answer, answerPreflight, answerError } = createDispatch(options)

  /** A path that is not one of ours as it stands: another spelling of one, or nothing. */
  function answerElsewhere(incoming: Incoming): Response | Promise<Response> {
    const { pathname } = new URL(incoming.request.url)
    const target = readPath(pathname)
    return target ? answer(incoming, target) : answerError(notFound(pathname), incoming)
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
