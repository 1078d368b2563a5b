/** Completes the description of the API where the plugin that writes it knows less than the routes do. */
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

/** `document` as it is, where it is none. */
export function completeDescription(document: unknown, routes: readonly Route[]): unknown {
  if (!isDescription(document)) return document
  for (const { method, path, hooks } of routes) {
    const described = path.replace(/:(\w+)/g, '{$1}')
    const operation = document.paths[described]?.[method.toLowerCase()]
    if (!operation) continue
    // Left out where a route has a parser of its own.
    if (hooks?.body !== undefined) {
      operation.requestBody = { content: { 'application/json': { schema: hooks.body } }, required: true }
    }
    // at[gte]=1, as OpenAI's clients write it.
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema.type === 'object') Object.assign(parameter, { style: 'deepObject', explode: true })
    }
  }
  return JSON.parse(JSON.stringify(document, (_, value) => plainText(plainNumber(value))))
}

function isDescription(document: unknown): document is Description {
  return typeof document === 'object' && document !== null && 'paths' in document
}

/** Elysia describes a whole number as one that may come as text: what is read first makes a number of it. */
function plainNumber(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value) || !Array.isArray(value.anyOf)) return value
  return value.anyOf.find(({ type }) => type === 'integer') ?? value
}

/** PostgreSQL's text holds no U+0000. */
const TEXT = '^[^\\u0000]*$'

/** What is stated of text, in place of where it was stated. */
function plainText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'string') return value
  const { [STATED]: rule = {}, ...schema }: Record<string, unknown> = { ...value }
  const isRuled = ['pattern', 'enum', 'const', 'format'].some(name => name in schema || name in (rule as object))
  return { ...schema, ...(isRuled ? (rule as object) : { pattern: TEXT }) }
}
