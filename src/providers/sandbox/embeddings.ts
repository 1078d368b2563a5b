/** The sandbox's embeddings: the response's format, and the upstream's limits on inputs. */
import { invalidRequestError } from '../../errors/errors.ts'
import { readEnum, readNonEmptyString, readOptional } from '../../formats/json/read-fields.ts'
import { createTokenCounter } from '../../formats/tokens/text-counter.ts'
import { readInteger, type SandboxRequest } from './fields.ts'
import { type PromptInput, readInputs } from './prompts.ts'
import { createVector } from './vectors.ts'

const MOST_INPUTS = 2048
const MOST_INPUT_TOKENS = 8192
const MOST_REQUEST_TOKENS = 300_000
const MOST_DIMENSIONS = 3072
const DEFAULT_DIMENSIONS = 1536

/** Returns a `list` of embeddings in the order of the inputs; throws a 400 for what OpenAI would refuse. */
export function createEmbeddings(request: SandboxRequest): Record<string, unknown> {
  const model = readNonEmptyString(request.model, 'model')
  const inputs = readInputs(request, 'input', MOST_INPUTS)
  const dimensions = readInteger(request, 'dimensions', 1, MOST_DIMENSIONS) ?? defaultDimensions(model)
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
  model.endsWith('text-embedding-3-large') ? MOST_DIMENSIONS : DEFAULT_DIMENSIONS

function readEncoding(request: SandboxRequest): (vector: Float32Array) => string | number[] {
  const format = readEnum(readOptional(request, 'encoding_format') ?? 'float', 'encoding_format', ['float', 'base64'])
  return vector => (format === 'float' ? [...vector] : Buffer.from(vector.buffer).toString('base64'))
}

/** Counts all inputs' tokens, and checks the limits of each and of the sum. */
function countTokens(inputs: PromptInput[], model: string): number {
  const countText = createTokenCounter(model)
  let total = 0
  for (const [index, input] of inputs.entries()) {
    const place = inputs.length > 1 ? `input[${index}]` : 'input'
    if (input === '') throw invalidRequestError(`Invalid '${place}': input cannot be an empty string.`, 'input')
    const tokens = typeof input === 'string' ? countText(input) : input.length
    if (tokens > MOST_INPUT_TOKENS) {
      throw invalidRequestError(
        `Invalid '${place}': at most ${MOST_INPUT_TOKENS} tokens are allowed, it has ${tokens}.`,
        'input',
      )
    }
    total += tokens
  }
  if (total <= MOST_REQUEST_TOKENS) return total
  throw invalidRequestError(
    `Invalid 'input': at most ${MOST_REQUEST_TOKENS} tokens are allowed in a request, it has ${total}.`,
    'input',
  )
}
