/** Splits a request's embeddings inputs into batches that a provider accepts. */

/** Maximum inputs per request for vendors that accept fewer than OpenAI's 2,048: the limits of the Gemini API and of Cohere. */
const MAX_INPUTS: readonly { models: RegExp; inputs: number }[] = [
  { models: /^(?:google|~google)\/|^gemini-embedding/i, inputs: 100 },
  { models: /^cohere\/|^embed-(?:v\d|english|multilingual)/i, inputs: 96 },
]
const DEFAULT_MAX_INPUTS = 2_048

/** Splits the inputs in order into as few batches as possible, of sizes as even as possible. */
export function planBatches<T>(inputs: readonly T[], model: string): T[][] {
  const max = MAX_INPUTS.find(({ models }) => models.test(model))?.inputs ?? DEFAULT_MAX_INPUTS
  const count = Math.ceil(inputs.length / max)
  const size = Math.ceil(inputs.length / Math.max(1, count))
  return Array.from({ length: count }, (_, index) => inputs.slice(index * size, (index + 1) * size))
}
