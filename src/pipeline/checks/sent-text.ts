/** What the hook is shown of a request: its JSON as it was sent, or the texts of its form; without what the client authorizes itself with. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../formats/json/canonical.ts'
import { type Form, readValue } from '../../formats/read-form.ts'
import type { Query } from '../query.ts'

const HIDE = new Job<string, string>(new URL('../jobs.ts', import.meta.url), 'hideSecrets')

/** Null for a request that says nothing to a model. `owner` is the project. */
export async function sentText(query: Query, owner: number): Promise<Uint8Array | null> {
  const sent = sentBy(query)
  if (sent === null) return null
  return typeof sent === 'object' ? Buffer.from(JSON.stringify(sent)) : withoutSecrets(Buffer.from(sent), owner)
}

/** The same JSON without what the client authorizes itself with; answers repeat their requests' tools. */
export async function withoutSecrets(json: Uint8Array, owner: number): Promise<Uint8Array> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  if (!MCP.some(word => bytes.includes(word))) return json
  const text = bytes.toString()
  return Buffer.from(text.length > LONGEST_ON_LOOP ? await offLoop.run(HIDE, text, { owner }) : hideSecrets(text))
}

function sentBy(query: Query): string | JsonObject | null {
  if (query.kind === 'completion' || query.kind === 'explain') return query.text
  if (query.kind === 'count') return typeof query.sent === 'string' ? query.sent : new TextDecoder().decode(query.sent)
  if (query.kind !== 'passed') return null
  return query.passed.form ? textsOf(query.passed.form) : query.text
}

/** Pictures and sound. */
const IN_FILES = /^(?:file|image|mask)(?:\[.*)?$/

/** All that is not a file by its name, however it is sent, since a provider may read it as text. */
function textsOf(form: Form): JsonObject {
  const texts = new Map<string, string[]>()
  for (const part of form.parts) {
    if (!IN_FILES.test(part.name)) texts.set(part.name, [...(texts.get(part.name) ?? []), readValue(form, part)])
  }
  return Object.fromEntries(Array.from(texts, ([name, values]) => [name, values.length === 1 ? values[0] : values]))
}

/** Without these, nobody is authorized. */
const MCP = ['"mcp"', '"mcp_servers"']

/** Without what an MCP server is told to know the client by. No model reads it. */
export function hideSecrets(text: string): string {
  const body = parseJson(text)
  if (!isJsonObject(body)) return text
  return JSON.stringify({
    ...body,
    ...(Array.isArray(body.tools) && { tools: body.tools.map(hideInTool) }),
    ...(Array.isArray(body.mcp_servers) && { mcp_servers: body.mcp_servers.map(hideInServer) }),
  })
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
