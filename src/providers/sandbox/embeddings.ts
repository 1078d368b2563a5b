/** Creates the sandbox's embeddings, with OpenAI's response format and limits on inputs. */
import { invalidRequestError } from '../../errors/errors.ts'
import { readEnum, readNonEmptyString, readOptional } from '../../formats/json/read-fields.ts'
import { createTokenCounter } from '../../formats/tokens/text-counter.ts'
import { readInteger, type SandboxRequest } from './fields.ts'
import { type PromptInput, readInputs } from './prompts.ts'
import { createVector } from './vectors.ts'

const MAX_INPUTS = 2048
const MAX_INPUT_TOKENS = 8192
const MAX_REQUEST_TOKENS = 300_000
const MAX_DIMENSIONS = 3072
const DEFAULT_DIMENSIONS = 1536

/** Returns a `list` of embeddings in the order of the inputs. Throws a 400 for a request that OpenAI would reject. */
export function createEmbeddings(request: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(request.model, 'model')
  const inputs = readInputs(request, 'input', MAX_INPUTS)
  const dimensions = readInteger(request, 'dimensions', 1, MAX_DIMENSIONS) ?? defaultDimensions(model)
  const encode = readEncoding(request)
  const tokens = countTokens(inputs, model)
  return {
    object: 'list',
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: encode(createVector(input, model, dimensions)),
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

const defaultDimensions = (model: string) =>
  model.endsWith('text-embedding-3-large') ? MAX_DIMENSIONS : DEFAULT_DIMENSIONS

function readEncoding(request: SandboxRequest): (vector: Float32Array) => string | number[] {
  const format = readEnum(readOptional(request, 'encoding_format') ?? 'float', 'encoding_format', ['float', 'base64'])
  return vector => (format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64'))
}

/** Returns the tokens of all inputs. Throws a 400 when one input or their sum exceeds its limit. */
function countTokens(inputs: PromptInput[], model: string): number {
  const countText = createTokenCounter(model)
  let total = 0
  for (const [index, input] of inputs.entries()) {
    const place = inputs.length > 1 ? `input[${index}]` : 'input'
    if (input === '') throw invalidRequestError(`Invalid '${place}': input cannot be an empty string.`, 'input')
    const tokens = typeof input === 'string' ? countText(input) : input.length
    if (tokens > MAX_INPUT_TOKENS) {
      throw invalidRequestError(
        `Invalid '${place}': at most ${MAX_INPUT_TOKENS} tokens are allowed, it has ${tokens}.`,
        'input',
      )
    }
    total += tokens
  }
  if (total <= MAX_REQUEST_TOKENS) return total
  throw invalidRequestError(
    `Invalid 'input': at most ${MAX_REQUEST_TOKENS} tokens are allowed in a request, it has ${total}.`,
    'input',
  )
}
