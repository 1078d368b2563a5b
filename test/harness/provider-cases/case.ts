/** A provider's response, byte for byte, and the expected outcome at each endpoint. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Call, Endpoint, Mode } from '../outcomes/outcome.ts'

/** The project whose key is used: `agg` uses the aggregator; the others have their own key at OpenAI, Anthropic or Groq. */
export type Project = 'agg' | 'oai' | 'ant' | 'groq'

export interface ProviderResponseBytes {
  status: number
  /** Null: no header. */
  contentType: string | null
  body: string
}

/** Absent fields are not checked. */
export interface Expected {
  text?: string
  reasoning?: string
  calls?: Call[]
  end?: 'stop' | 'tools' | 'length' | 'filter' | 'error' | 'any'
  /** Prompt tokens (`p`), those read from the provider's cache (`cp`), and completion tokens (`c`). */
  p?: number
  cp?: number
  c?: number
  cost?: number
  minCost?: number
  maxCost?: number
  store?: boolean
  /** Texts that must be in the response, encoded in its opaque state, or reported as omitted. */
  keeps?: string[]
  /** The case also passes if the outcome is an error. */
  noFail?: boolean
}

export interface ProviderCase {
  id: string
  what: string
  project: Project
  tools: boolean
  extra: Record<string, unknown> | null
  upstream: Partial<Record<Mode, ProviderResponseBytes>>
  expected: Record<string, Expected>
}

export interface Row {
  case: ProviderCase
  endpoint: Endpoint
  mode: Mode
  sent: ProviderResponseBytes
  expected: Expected
}

import { acceptsFields } from './requests.ts'

const FOLDER = new URL('../../fixtures/provider-responses/', import.meta.url)
const ENDPOINTS: readonly Endpoint[] = ['chat', 'responses', 'messages', 'generate_content']
const MODES: readonly Mode[] = ['streamed', 'plain']

export function readCaseFiles(): ProviderCase[] {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.json'))
  return files.sort().flatMap(name => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).cases)
}

/**
 * Returns one row for each endpoint and mode that the case expects something of. A body in another format than the endpoint requires has no
 * row.
 */
export function rowsOf(each: ProviderCase): Row[] {
  return ENDPOINTS.flatMap(endpoint =>
    MODES.flatMap(mode => {
      const sent = each.upstream[mode]
      const expected = each.expected[`${endpoint}/${mode}`] ?? each.expected[mode] ?? each.expected.all
      const format = sent && formatOf(sent.body)
      const fits =
        sent &&
        acceptsFields(endpoint, each.extra) &&
        (format === null || format === providerFormat(each.project, endpoint))
      return fits && expected ? [{ case: each, endpoint, mode, sent, expected }] : []
    }),
  )
}

/** Returns the format that the proxy uses with a project's provider for requests at an endpoint. */
export function providerFormat(project: Project, endpoint: Endpoint): Endpoint {
  if (project === 'ant') return 'messages'
  // A vendor with Responses gets requests of Messages there, too.
  return project === 'oai' && (endpoint === 'responses' || endpoint === 'messages') ? 'responses' : 'chat'
}

/** Null: of none of these formats. */
function formatOf(body: string): Endpoint | null {
  if (/"type":"response\.|"object":"response"/.test(body)) return 'responses'
  if (/"type":"(message_start|message)"/.test(body)) return 'messages'
  return /"(choices|delta)"/.test(body) ? 'chat' : null
}
