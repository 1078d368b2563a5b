/** What the hook is shown of a request: its JSON as it was sent, or the texts of its form; without what authorizes the client, and packed texts unpacked. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import { MAY_BE_PACKED, writeOut } from '../../formats/drop-packed.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../formats/json/canonical.ts'
import { type Form, readValue } from '../../formats/read-form.ts'
import type { Query } from '../query.ts'

const HIDE = new Job<string, string>(new URL('../jobs.ts', import.meta.url), 'hideSecrets')

/** Undefined for a request that says nothing to a model; null for one of more than `mostBytes`. `owner` is the project. */
export async function sentText(
  query: Query,
  { owner, mostBytes }: { owner: number; mostBytes: number },
): Promise<Uint8Array | null | undefined> {
  if (query.kind !== 'completion' && query.kind !== 'explain' && query.kind !== 'count' && query.kind !== 'passed')
    return
  if (lengthOf(query) > mostBytes) return null
  if (query.kind === 'passed' && query.passed.form) return Buffer.from(JSON.stringify(textsOf(query.passed.form)))
  const sent = query.kind === 'count' ? query.sent : query.text
  return withoutSecrets(typeof sent === 'string' ? Buffer.from(sent) : sent, owner)
}

/** The same JSON without what the client authorizes itself with; answers repeat their requests' tools. */
export async function withoutSecrets(json: Uint8Array, owner: number): Promise<Uint8Array> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  if (!REWRITTEN.some(word => bytes.includes(word))) return json
  const text = bytes.toString()
  return Buffer.from(text.length > LONGEST_ON_LOOP ? await offLoop.run(HIDE, text, { owner }) : hideSecrets(text))
}

/** A text has at least as many bytes. */
function lengthOf(query: Extract<Query, { kind: 'completion' | 'explain' | 'count' | 'passed' }>): number {
  if (query.kind === 'count') return query.sent.length
  if (query.kind !== 'passed') return query.bytes?.length ?? query.text.length
  const { bytes, form } = query.passed
  return form ? textPartsOf(form).reduce((sum, { start, end }) => sum + end - start, 0) : bytes.length
}

/** Pictures and sound. */
const IN_FILES = /^(?:file|image|mask)(?:\[.*)?$/

/** All that is not a file by its name, however it is sent, since a provider may read it as text. */
function textPartsOf({ parts }: Form): Form['parts'] {
  return parts.filter(({ name }) => !IN_FILES.test(name))
}

function textsOf(form: Form): JsonObject {
  const texts = Map.groupBy(textPartsOf(form), ({ name }) => name)
  return Object.fromEntries(
    Array.from(texts, ([name, [first, ...more]]) => {
      const values = [first, ...more].flatMap(part => (part ? readValue(form, part) : []))
      return [name, more.length > 0 ? values : values[0]]
    }),
  )
}

/** Without these, nobody is authorized, and nothing is packed. */
const REWRITTEN = ['"mcp"', '"mcp_servers"', MAY_BE_PACKED]

/** Without what an MCP server is told to know the client by, which no model reads: in a request, in one of a batch, in an answer. */
export function hideSecrets(text: string): string {
  const body = parseJson(text)
  if (!isJsonObject(body)) return text
  const hidden = hideIn(body)
  return JSON.stringify(text.includes(MAY_BE_PACKED) ? writeOut(hidden) : hidden)
}

function hideIn(body: JsonObject): JsonObject {
  const { tools, mcp_servers: servers, body: line, requests } = body
  return {
    ...body,
    ...(Array.isArray(tools) && { tools: tools.map(hideInTool) }),
    ...(Array.isArray(servers) && { mcp_servers: servers.map(hideInServer) }),
    ...(isJsonObject(line) && { body: hideIn(line) }),
    ...(Array.isArray(requests) && { requests: requests.map(hideInParams) }),
  }
}

function hideInParams(request: unknown): unknown {
  return isJsonObject(request) && isJsonObject(request.params)
    ? { ...request, params: hideIn(request.params) }
    : request
}

function hideInTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool.type !== 'mcp') return tool
  const { authorization, headers, ...shown } = tool
  return shown
}

function hideInServer(server: unknown): unknown {
  if (!isJsonObject(server)) return server
  const { authorization_token, ...shown } = server
  return shown
}
