/** The sandbox's legacy text completions. */
import { invalidRequestError } from '../../errors/errors.ts'
import { nowSeconds } from '../../event-loop/clock.ts'
import { readNonEmptyString, readOptional, readString } from '../../formats/json/read-fields.ts'
import { countPromptTokens } from '../../formats/tokens/count-tokens.ts'
import {
  checkSamplingParameters,
  readInputs,
  readInteger,
  readStopSequences,
  rejectFields,
  type SandboxRequest,
} from './fields.ts'
import { SANDBOX_PREFIX } from './response-content.ts'
import { digestRequest, quoteText, truncateText } from './response-text.ts'

const MAX_CHOICES = 128
const MAX_PROMPTS = 2048
const DEFAULT_MAX_TOKENS = 16
const SHOWN_TOKENS = 16

/** Returns a `text_completion` with choices in the order of the prompts. Throws a 400 for a request that OpenAI would reject. */
export function createTextCompletion(request: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(request.model, 'model')
  checkSamplingParameters(request)
  readString(readOptional(request, 'suffix') ?? '', 'suffix')
  rejectFields(request, ['logprobs', 'echo'])
  const count = readInteger(request, 'n', 1, MAX_CHOICES) ?? 1
  const maxTokens = readInteger(request, 'max_tokens', 0) ?? DEFAULT_MAX_TOKENS
  const limits = { stopSequences: readStopSequences(request), maxTokens, model }
  const prompts = readInputs(request, 'prompt', MAX_PROMPTS)
  if (prompts.length * count > MAX_PROMPTS) {
    throw invalidRequestError(`Invalid 'n': at most ${MAX_PROMPTS} choices are allowed for all prompts together.`, 'n')
  }
  const digest = digestRequest('completions', request)
  const choices = prompts.flatMap(prompt =>
    Array.from({ length: count }, (_, index) => {
      const which = count > 1 ? ` (choice ${index + 1} of ${count})` : ''
      const origin = `Test completion${which}, no model was asked; request ${digest.slice(0, 8)}`
      const shown = typeof prompt === 'string' ? prompt : prompt.slice(0, SHOWN_TOKENS).join(' ')
      return truncateText(`${SANDBOX_PREFIX} ${origin}. The prompt reads ${quoteText(shown)}.`, limits)
    }),
  )
  const promptTokens = countPromptTokens(request, 'completions')
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens, 0)
  return {
    id: `cmpl-sandbox${digest.slice(0, 24)}`,
    object: 'text_completion',
    created: nowSeconds(),
    model,
    choices: choices.map(({ text, finishReason }, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: finishReason,
    })),
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
    system_fingerprint: 'fp_sandbox',
  }
}
