/** A provider's response, byte for byte, and what each endpoint has to make of it. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Call, Endpoint, Mode } from '../outcomes/outcome.ts'

/** Whose key is used: the aggregator's, or the project's own at OpenAI, Anthropic, Groq. */
export type Project = 'agg' | 'oai' | 'ant' | 'groq'

export interface SentBytes {
  status: number
  /** Null: none at all. */
  contentType: string | null
  body: string
}

/** What is left out is not checked. */
export interface Expected {
  text?: string
  reasoning?: string
  calls?: Call[]
  end?: 'stop' | 'tools' | 'length' | 'filter' | 'error' | 'any'
  /** Prompt tokens, those read from the provider's cache, and completion tokens. */
  p?: number
  cp?: number
  c?: number
  cost?: number
  minCost?: number
  maxCost?: number
  store?: boolean
  /** Texts that are in the response, packed in it, or of a kind that it names as omitted. */
  keeps?: string[]
  /** An error is no failure of the case. */
  noFail?: boolean
}

export interface ProviderCase {
  id: string
  what: string
  project: Project
  tools: boolean
  extra: Record<string, unknown> | null
  upstream: Partial<Record<Mode, SentBytes>>
  expected: Record<string, Expected>
}

export interface Row {
  case: ProviderCase
  endpoint: Endpoint
  mode: Mode
  sent: SentBytes
  expected: Expected
}

const FOLDER = new URL('../../fixtures/provider-responses/', import.meta.url)
const ENDPOINTS: readonly Endpoint[] = ['chat', 'responses', 'messages']
const MODES: readonly Mode[] = ['streamed', 'plain']

export function readCaseFiles(): ProviderCase[] {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.json'))
  return files.sort().flatMap(name => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).cases)
}

/** One row for each endpoint and mode that the case speaks of. A body of another format than the endpoint asks for is no row of it. */
export function rowsOf(each: ProviderCase): Row[] {
  return ENDPOINTS.flatMap(endpoint =>
    MODES.flatMap(mode => {
      const sent = each.upstream[mode]
      const expected = each.expected[`${endpoint}/${mode}`] ?? each.expected[mode] ?? each.expected.all
      const format = sent && formatOf(sent.body)
      const fits = sent && (format === null || format === providerFormat(each.project, endpoint))
      return fits && expected ? [{ case: each, endpoint, mode, sent, expected }] : []
    }),
  )
}

/** The format in which a project's provider is asked for what comes to an endpoint. */
export function providerFormat(project: Project, endpoint: Endpoint): Endpoint {
  if (project === 'ant') return 'messages'
  return project === 'oai' && endpoint === 'responses' ? 'responses' : 'chat'
}

/** Null: of none. */
function formatOf(body: string): Endpoint | null {
  if (/"type":"response\.|"object":"response"/.test(body)) return 'responses'
  if (/"type":"(message_start|message)"/.test(body)) return 'messages'
  return /"(choices|delta)"/.test(body) ? 'chat' : null
}
