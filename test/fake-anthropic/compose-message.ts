/** The response of the fake model. The same request and scenario always give the same response. */
import type { ContentBlock, Message, StopReason, Usage } from '@anthropic-ai/sdk/resources/messages'
import { splitTokens } from '../fake-provider/compose.ts'
import { instanceOfSchema } from '../fake-provider/schema-instance.ts'
import { isThinking } from './check-model.ts'
import { findModel } from './models.ts'
import type { AnswerScenario, JsonObject } from './scenario.ts'
import { signReasoning } from './thinking-signature.ts'

interface Turn {
  role: string
  content: JsonObject[]
}

/** `serial` is the response's number. It makes ids unique. */
export function composeMessage(request: JsonObject, scenario: AnswerScenario, serial: number): Message {
  const thought = scenario.content ? [] : composeThought(request)
  const composed = scenario.content ?? composeContent(request, serial)
  const { content, stopReason } = limit(request, composed)
  return {
    id: `msg_fake${serial}`,
    type: 'message',
    role: 'assistant',
    model: String(request.model),
    content: [...thought, ...content],
    stop_reason: (scenario.stopReason ?? stopReason) as StopReason,
    stop_sequence: null,
    stop_details: scenario.stopDetails ?? null,
    container: null,
    diagnostics: null,
    usage: { ...countUsage(request, [...thought, ...content], scenario.thinkingTokens), ...scenario.usage },
  }
}

function composeThought(request: JsonObject): ContentBlock[] {
  const model = findModel(String(request.model))
  if (!model || !isThinking(request, model)) return []
  const { display, type } = (request.thinking ?? {}) as JsonObject
  const isShown = display === 'summarized' || type === 'enabled'
  const thinking = isShown ? 'Let me think.\nThis is what fake providers are asked.' : ''
  return [{ type: 'thinking', thinking, signature: signReasoning(request, request.messages as Turn[], thinking) }]
}

function composeContent(request: JsonObject, serial: number): ContentBlock[] {
  const last = (request.messages as Turn[]).at(-1)?.content ?? []
  const prompt = last.map(block => String(block.text ?? '')).join(' ')
  const results = last.filter(block => block.type === 'tool_result')
  const calls = results.length > 0 ? [] : chooseTools(request, prompt)
  if (calls.length > 0) return calls.map((tool, index) => writeCall(tool, `toolu_${serial}_${index}`))
  const { format } = (request.output_config ?? {}) as { format?: JsonObject }
  if (format) return [write(JSON.stringify(instanceOfSchema(format.schema)))]
  if (results.length > 0) return [write(`The results are: ${results.map(readResult).join(' | ')}`)]
  const seen = last.map(block => block.type).join('+')
  return [
    write(`Answer to ${seen}: ${prompt.slice(0, 80)} The fake provider adds some words, so that a stream has events.`),
  ]
}

/** Returns the tools that the request requires or that the user's message names. */
function chooseTools(request: JsonObject, prompt: string): JsonObject[] {
  const tools = (request.tools ?? []) as JsonObject[]
  const choice = (request.tool_choice ?? { type: 'auto' }) as JsonObject
  if (choice.type === 'none') return []
  if (choice.type === 'tool') return tools.filter(tool => tool.name === choice.name)
  const named = tools.filter(tool => prompt.includes(String(tool.name)))
  const chosen = named.length === 0 && choice.type === 'any' ? tools.slice(0, 1) : named
  return choice.disable_parallel_tool_use === true ? chosen.slice(0, 1) : chosen
}

function writeCall({ name, input_schema }: JsonObject, id: string): ContentBlock {
  return { type: 'tool_use', id, name: String(name), input: instanceOfSchema(input_schema), caller: { type: 'direct' } }
}

function write(text: string): ContentBlock {
  // Anthropic omits citations if there are none; the type of its SDK requires them.
  return { type: 'text', text } as ContentBlock
}

function readResult({ content }: JsonObject): string {
  return Array.isArray(content) ? content.map(block => block.text).join(' ') : ''
}

/** Cuts text at the request's limits. One word counts as one token. */
function limit(request: JsonObject, content: ContentBlock[]): { content: ContentBlock[]; stopReason: string } {
  const [first] = content
  if (first?.type !== 'text') return { content, stopReason: content.length > 0 ? 'tool_use' : 'end_turn' }
  if (content.some(block => block.type === 'tool_use')) return { content, stopReason: 'tool_use' }
  for (const stop of (request.stop_sequences ?? []) as string[]) {
    const at = first.text.indexOf(stop)
    if (at >= 0) return { content: [write(first.text.slice(0, at))], stopReason: 'stop_sequence' }
  }
  const tokens = splitTokens(first.text)
  const most = Number(request.max_tokens)
  if (tokens.length <= most) return { content, stopReason: 'end_turn' }
  return { content: [write(tokens.slice(0, most).join(''))], stopReason: 'max_tokens' }
}

function countUsage(request: JsonObject, content: ContentBlock[], thinkingTokens = 0): Usage {
  const written = splitTokens(content.map(block => JSON.stringify(block)).join(' ')).length
  return {
    input_tokens: Math.ceil(JSON.stringify(request.messages).length / 4),
    output_tokens: written + thinkingTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
    inference_geo: null,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  }
}
