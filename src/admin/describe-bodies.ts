/** Completes the description of the API: the plugin leaves out the bodies of routes that read them with a parser of their own. */

interface Route {
  method: string
  path: string
  hooks?: { body?: unknown }
}

type Operation = { requestBody?: { content: Record<string, { schema: unknown }>; required: boolean } }

interface Description {
  paths: Record<string, Record<string, Operation>>
}

/** `document` as it is, where it is none. */
export function describeBodies(document: unknown, routes: readonly Route[]): unknown {
  if (!isDescription(document)) return document
  for (const { method, path, hooks } of routes) {
    const described = path.replace(/:(\w+)/g, '{$1}')
    const operation = document.paths[described]?.[method.toLowerCase()]
    if (!operation || hooks?.body === undefined) continue
    operation.requestBody = { content: { 'application/json': { schema: hooks.body } }, required: true }
  }
  return document
}

function isDescription(document: unknown): document is Description {
  return typeof document === 'object' && document !== null && 'paths' in document
}
