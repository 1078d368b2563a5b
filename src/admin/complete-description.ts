/** Completes the OpenAPI description where the plugin that generates it knows less than the routes do. */
import { STATED } from './stated.ts'

interface Route {
  method: string
  path: string
  hooks?: { body?: unknown }
}

interface Operation {
  parameters?: { schema: { type?: string }; style?: string; explode?: boolean }[]
  requestBody?: { content: Record<string, { schema: unknown }>; required: boolean }
}

interface Description {
  paths: Record<string, Record<string, Operation>>
}

/** Returns `document` unchanged when it is not a description. */
export function completeDescription(document: unknown, routes: readonly Route[]): unknown {
  if (!isDescription(document)) return document
  for (const { method, path, hooks } of routes) {
    const described = path.replace(/:(\w+)/g, '{$1}')
    const operation = document.paths[described]?.[method.toLowerCase()]
    if (!operation) continue
    // The plugin omits the body of routes that have a parser of their own.
    if (hooks?.body !== undefined) {
      operation.requestBody = { content: { 'application/json': { schema: hooks.body } }, required: true }
    }
    // at[gte]=1, as OpenAI's clients send it.
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema.type === 'object') Object.assign(parameter, { style: 'deepObject', explode: true })
    }
  }
  return JSON.parse(JSON.stringify(document, (_, value) => plainText(plainNumber(value))))
}

function isDescription(document: unknown): document is Description {
  return typeof document === 'object' && document !== null && 'paths' in document
}

/** Elysia describes an integer as integer or text. `readQuery` has already converted it, so only the integer is left. */
function plainNumber(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value) || !Array.isArray(value.anyOf)) return value
  return value.anyOf.find(({ type }) => type === 'integer') ?? value
}

/** PostgreSQL's text cannot hold U+0000. */
const TEXT = '^[^\\u0000]*$'

/** Replaces the STATED marker by the rule it holds. Text without a rule gets the pattern that excludes U+0000. */
function plainText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'string') return value
  const { [STATED]: rule = {}, ...schema }: Record<string, unknown> = { ...value }
  const isRuled = ['pattern', 'enum', 'const', 'format'].some(name => name in schema || name in (rule as object))
  return { ...schema, ...(isRuled ? (rule as object) : { pattern: TEXT }) }
}
