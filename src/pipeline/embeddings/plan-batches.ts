/** Cuts inputs into batches that an upstream takes. */

/** Most inputs a request, where a vendor takes fewer than OpenAI's 2,048: the Gemini API's and Cohere's own limits. */
const MOST_INPUTS: readonly { models: RegExp; inputs: number }[] = [
  { models: /^(?:google|~google)\/|^gemini-embedding/i, inputs: 100 },
  { models: /^cohere\/|^embed-(?:v\d|english|multilingual)/i, inputs: 96 },
]
const MOST_INPUTS_ELSEWHERE = 2_048

/** In order; as few as possible, and as even. */
export function planBatches<T>(inputs: readonly T[], model: string): T[][] {
  const most = MOST_INPUTS.find(({ models }) => models.test(model))?.inputs ?? MOST_INPUTS_ELSEWHERE
  const count = Math.ceil(inputs.length / most)
  const size = Math.ceil(inputs.length / Math.max(1, count))
  return Array.from({ length: count }, (_, at) => inputs.slice(at * size, (at + 1) * size))
}
