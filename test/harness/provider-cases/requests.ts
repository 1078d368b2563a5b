/** The request that a case sends to each endpoint. */
import type { Endpoint, Mode } from '../outcomes/outcome.ts'
import type { Project } from './case.ts'

/** Endpoints whose path does not name the model. */
export type FixedPathEndpoint = Exclude<Endpoint, 'generate_content'>

export const PATHS: Record<FixedPathEndpoint, string> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

export function pathOf({ endpoint, mode, model }: CaseRequest): string {
  if (endpoint !== 'generate_content') return PATHS[endpoint]
  const isStreamed = mode === 'streamed'
  return `/v1beta/models/${model}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

const LIMIT_FIELDS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens'])

/** Whether the endpoint has a counterpart of every field. Gemini's rejects unknown fields. */
export function acceptsFields(endpoint: Endpoint, extra: Record<string, unknown> | null): boolean {
  return endpoint !== 'generate_content' || Object.keys(extra ?? {}).every(field => LIMIT_FIELDS.has(field))
}

export const MODELS: Record<Project, string> = {
  agg: 'openai/gpt-4o-mini',
  oai: 'gpt-4o-mini',
  ant: 'claude-haiku-4-5',
  groq: 'llama-3.3-70b-versatile',
}

const PARAMETERS = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
const RUN = { name: 'run', description: 'Runs a command.' }
const TOOLS: Record<Endpoint, object> = {
  chat: { type: 'function', function: { ...RUN, parameters: PARAMETERS } },
  responses: { type: 'function', ...RUN, parameters: PARAMETERS, strict: false },
  messages: { ...RUN, input_schema: PARAMETERS },
  generate_content: { functionDeclarations: [{ ...RUN, parametersJsonSchema: PARAMETERS }] },
}

export interface CaseRequest {
  endpoint: Endpoint
  mode: Mode
  model: string
  prompt: string
  tools?: boolean
  extra?: Record<string, unknown> | null
}

export function writeRequest({
  endpoint,
  mode,
  model,
  prompt,
  tools = false,
  extra,
}: CaseRequest): Record<string, unknown> {
  if (endpoint === 'generate_content') {
    const [maxOutputTokens] = Object.values(extra ?? {})
    return {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true }, ...(extra && { maxOutputTokens }) },
      ...(tools && { tools: [TOOLS[endpoint]] }),
    }
  }
  const messages = [{ role: 'user', content: prompt }]
  return {
    model,
    ...(endpoint === 'responses' ? { input: prompt } : { messages }),
    ...(endpoint === 'messages' && { max_tokens: 4096 }),
    ...(tools && { tools: [TOOLS[endpoint]] }),
    ...extra,
    stream: mode === 'streamed',
  }
}
