/** The sandbox's chat completions. */

import { invalidRequest } from '../../errors.ts'
import { countAside } from '../../tokens/count-aside.ts'
import { contentWriter } from './answer-content.ts'
import { checkAnswerSize } from './answer-size.ts'
import { callWriter } from './call-choice.ts'
import { type Choice, numberChoices, sumTokens } from './choice.ts'
import { checkSampling, type Request, readBoolean, readInteger, readModel, readStops } from './fields.ts'
import { type LimitedText, limitTextsAside, type TextLimits } from './limit-text.ts'
import { describeChatTokens, LOGPROBS_GROWTH } from './log-probabilities.ts'
import { readMessages } from './messages.ts'
import { digestRequest } from './request-digest.ts'
import { TEST_KEYS } from './test-keys.ts'
import { chooseCalls } from './tool-calls.ts'

const MOST_CHOICES = 128
const MOST_ALTERNATIVES = 20

/** Returns a `chat.completion`; throws a 400 for what OpenAI would refuse. */
export async function completeChat(request: Request): Promise<Record<string, unknown>> {
  const model = readModel(request)
  const messages = readMessages(request)
  checkSampling(request)
  const count = readInteger(request, 'n', { min: 1, max: MOST_CHOICES }) ?? 1
  const limits: TextLimits = { stops: readStops(request), maxTokens: readMaxTokens(request), model }
  const alternatives = readAlternatives(request)
  const digest = digestRequest('chat', request)
  const writeContent = await contentWriter({ request, messages, digest })
  const calls = chooseCalls(request, messages)
  const indexes = Array.from({ length: count }, (_, index) => index)
  const choices =
    calls.functions.length > 0
      ? indexes.map(await callWriter(calls, digest, limits, count))
      : await sayContents(
          indexes.map(index => writeContent(index, count)),
          limits,
          alternatives,
        )
  return {
    id: `chatcmpl-sandbox${digest.slice(0, 24)}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: numberChoices(choices),
    usage: await countUsage(request, choices),
    system_fingerprint: 'fp_sandbox',
  }
}

/** A choice for each content; identical ones are written once. */
async function sayContents(
  contents: readonly string[],
  limits: TextLimits,
  alternatives: number | undefined,
): Promise<Choice[]> {
  const growth = alternatives === undefined ? 1 : LOGPROBS_GROWTH
  const param = alternatives === undefined ? 'n' : 'logprobs'
  for (const content of contents) checkAnswerSize(content.length * growth, contents.length, param)
  const different = [...new Set(contents)]
  const limited = await limitTextsAside(different, limits)
  const choices = limited.map(each => sayText(each, alternatives))
  return contents.map(content => choices[different.indexOf(content)] as Choice)
}

function sayText({ text, pieces, tokens, finishReason }: LimitedText, alternatives: number | undefined): Choice {
  const logprobs = alternatives === undefined ? null : describeChatTokens(pieces, alternatives)
  const message = { role: 'assistant', content: text, refusal: null }
  return { choice: { message, logprobs, finish_reason: finishReason }, tokens }
}

function readMaxTokens(request: Request): number | undefined {
  const range = { min: 1, max: Number.MAX_SAFE_INTEGER }
  const older = readInteger(request, 'max_tokens', range)
  return readInteger(request, 'max_completion_tokens', range) ?? older
}

/** Alternatives to list for each token; undefined when no log probabilities are asked for. */
function readAlternatives(request: Request): number | undefined {
  const isAsked = readBoolean(request, 'logprobs') === true
  const alternatives = readInteger(request, 'top_logprobs', { min: 0, max: MOST_ALTERNATIVES })
  if (isAsked) return alternatives ?? 0
  if (alternatives === undefined) return undefined
  throw invalidRequest("Invalid value for 'top_logprobs': it is only allowed when 'logprobs' is true.", 'top_logprobs')
}

async function countUsage(request: Request, choices: Choice[]): Promise<Record<string, unknown>> {
  const { promptTokens: prompt } = await countAside({ endpoint: 'chat', request, text: '' }, TEST_KEYS)
  const completion = sumTokens(choices)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}
