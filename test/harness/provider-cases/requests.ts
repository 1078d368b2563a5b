/** The request that a case sends to each endpoint. */
import type { Endpoint, Mode } from '../outcomes/outcome.ts'
import type { Project } from './case.ts'

export const PATHS: Record<Endpoint, string> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
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
