/** Writes a chat choice that calls functions: ids, arguments that satisfy their schemas, and the token limit. */
import { countTextsAside } from '../../tokens/count-aside.ts'
import { checkAnswerSize } from './answer-size.ts'
import type { Choice } from './choice.ts'
import { type LimitedText, limitTextsAside, type TextLimits } from './limit-text.ts'
import type { OfferedFunction } from './offered-functions.ts'
import { digestText } from './request-digest.ts'
import { writeSchemaInstance } from './schema/schema-instances.ts'
import { TEST_KEYS } from './test-keys.ts'
import type { Calls } from './tool-calls.ts'

/** Tokens around a call's name and arguments. */
const CALL_OVERHEAD_TOKENS = 3

interface Call {
  function: { name: string; arguments: string }
  tokens: number
  isCut: boolean
}

/** All choices make the same calls, with ids of their own. */
export async function callWriter(
  calls: Calls,
  digest: string,
  limits: TextLimits,
  count: number,
): Promise<(index: number) => Choice> {
  const written = await writeCalls(calls.functions, limits)
  checkAnswerSize(
    written.reduce((sum, call) => sum + call.function.arguments.length, 0),
    count,
    'n',
  )
  const tokens = written.reduce((sum, call) => sum + call.tokens, 0)
  const isCut = written.some(call => call.isCut)
  const finishReason = calls.style === 'tools' ? 'tool_calls' : 'function_call'
  return index => {
    const calling =
      calls.style === 'tools'
        ? { tool_calls: written.map((call, at) => identify(call, `${digest} ${index} ${at}`)) }
        : { function_call: written[0]?.function }
    const message = { role: 'assistant', content: null, refusal: null, ...calling }
    return { choice: { message, logprobs: null, finish_reason: isCut ? 'length' : finishReason }, tokens }
  }
}

function identify(call: Call, seed: string): Record<string, unknown> {
  return { id: `call_${digestText(seed).slice(0, 24)}`, type: 'function', function: call.function }
}

async function writeCalls(functions: OfferedFunction[], { maxTokens = Infinity, model }: TextLimits): Promise<Call[]> {
  let tokensLeft = maxTokens
  const calls: Call[] = []
  for (const { name, parameters, param } of functions) {
    const call = await limitCall(name, await writeSchemaInstance(parameters, param, true), tokensLeft, model)
    tokensLeft -= call.tokens
    calls.push(call)
  }
  return calls
}

async function limitCall(name: string, whole: string, tokensLeft: number, model: string): Promise<Call> {
  const [nameTokens = 0] = await countTextsAside({ texts: [name], model }, TEST_KEYS)
  const overhead = CALL_OVERHEAD_TOKENS + nameTokens
  const limits = { stops: [], maxTokens: Math.max(0, tokensLeft - overhead), model }
  const [limited] = await limitTextsAside([whole], limits)
  const { text, tokens, finishReason } = limited as LimitedText
  return { function: { name, arguments: text }, tokens: overhead + tokens, isCut: finishReason === 'length' }
}
