/** The sandbox's legacy text completions. */
import { invalidRequest } from '../../errors.ts'
import { countPromptTokens } from '../../tokens/count-tokens.ts'
import { decodeTokens, splitIntoTokens } from '../../tokens/split-tokens.ts'
import { SANDBOX_MARK } from './answer-content.ts'
import { checkAnswerSize } from './answer-size.ts'
import { type Choice, numberChoices, sumTokens } from './choice.ts'
import { checkSampling, type Request, readBoolean, readInteger, readModel, readStops, readText } from './fields.ts'
import { limitText, type TextLimits } from './limit-text.ts'
import { describeCompletionTokens, LOGPROBS_GROWTH } from './log-probabilities.ts'
import { type Input, readInputs } from './prompts.ts'
import { quote } from './quote.ts'
import { digestRequest } from './request-digest.ts'

const MOST_CHOICES = 128
const MOST_CANDIDATES = 20
const MOST_PROMPTS = 2048
const MOST_ALTERNATIVES = 5
const DEFAULT_MAX_TOKENS = 16
const MOST_ECHOED_TOKENS = 16_384

interface Options {
  /** Choices to return per prompt, and candidates to bill. */
  count: number
  candidates: number
  echo: boolean
  /** Undefined for no log probabilities. */
  alternatives: number | undefined
  limits: TextLimits
  digest: string
}

/** Returns a `text_completion`, with choices in the order of prompts. Throws a 400 for what OpenAI would refuse. */
export function completeText(request: Request): Record<string, unknown> {
  const options = readOptions(request)
  const prompts = readInputs(request, 'prompt', MOST_PROMPTS)
  if (prompts.length * options.count > MOST_PROMPTS) {
    throw invalidRequest(`Invalid 'n': at most ${MOST_PROMPTS} choices are given for all prompts together.`, 'n')
  }
  const texts = prompts.map(prompt => textOfPrompt(prompt, options))
  checkEcho(texts, options)
  const choices = texts.flatMap(text => completePrompt(text, options))
  return {
    id: `cmpl-sandbox${options.digest.slice(0, 24)}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: options.limits.model,
    choices: numberChoices(choices),
    usage: countUsage(request, choices, options),
    system_fingerprint: 'fp_sandbox',
  }
}

function readOptions(request: Request): Options {
  const model = readModel(request)
  checkSampling(request)
  readText(request, 'suffix')
  const count = readInteger(request, 'n', { min: 1, max: MOST_CHOICES }) ?? 1
  const candidates = readInteger(request, 'best_of', { min: 1, max: MOST_CANDIDATES }) ?? count
  if (candidates < count) throw invalidRequest("Invalid 'best_of': it must not be less than 'n'.", 'best_of')
  const maxTokens = readInteger(request, 'max_tokens', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? DEFAULT_MAX_TOKENS
  return {
    count,
    candidates,
    echo: readBoolean(request, 'echo') === true,
    alternatives: readInteger(request, 'logprobs', { min: 0, max: MOST_ALTERNATIVES }),
    limits: { stops: readStops(request), maxTokens, model },
    digest: digestRequest('completions', request),
  }
}

function textOfPrompt(prompt: Input, { limits, echo }: Options): string {
  if (typeof prompt === 'string') return prompt
  // Without `echo`, only the prompt's beginning is shown.
  const text = decodeTokens(prompt.slice(0, echo ? MOST_ECHOED_TOKENS : 64), limits.model)
  if (text === undefined) {
    throw invalidRequest("Invalid 'prompt': it has a token that the model's vocabulary does not have.", 'prompt')
  }
  if (!echo || prompt.length <= MOST_ECHOED_TOKENS) return text
  throw invalidRequest(`Invalid 'echo': at most ${MOST_ECHOED_TOKENS} tokens of a prompt are given back.`, 'echo')
}

function checkEcho(prompts: string[], { echo, count, alternatives }: Options): void {
  if (!echo) return
  const chars = prompts.reduce((sum, prompt) => sum + prompt.length, 0)
  if (alternatives === undefined) checkAnswerSize(chars, count, 'echo')
  else checkAnswerSize(chars * LOGPROBS_GROWTH, count, 'logprobs')
}

function completePrompt(prompt: string, options: Options): Choice[] {
  const { count, digest, echo, limits, alternatives } = options
  const echoed = echo && alternatives !== undefined ? splitIntoTokens(prompt, limits.model) : []
  return Array.from({ length: count }, (_, index) => {
    const which = count > 1 ? ` (choice ${index + 1} of ${count})` : ''
    const origin = `Test completion${which}, no model was asked; request ${digest.slice(0, 8)}`
    const written = limitText(`${SANDBOX_MARK} ${origin}. The prompt reads ${quote(prompt)}.`, limits)
    const pieces = [...echoed, ...written.pieces]
    const logprobs =
      alternatives === undefined ? null : describeCompletionTokens(pieces, alternatives, echoed.length > 0)
    const text = echo ? prompt + written.text : written.text
    return { choice: { text, logprobs, finish_reason: written.finishReason }, tokens: written.tokens }
  })
}

/** Candidates that were not chosen are billed, too. */
function countUsage(request: Request, choices: Choice[], { count, candidates }: Options): Record<string, number> {
  const prompt = countPromptTokens(request, 'completions')
  const chosen = sumTokens(choices)
  const completion = Math.ceil((chosen * candidates) / count)
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}
