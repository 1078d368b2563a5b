/** Cuts inputs into batches of a size that an upstream accepts. */

/** Most inputs per request for vendors that take fewer than OpenAI's 2,048: the limits of the Gemini API and of Cohere. */
const MOST_INPUTS: readonly { models: RegExp; inputs: number }[] = [
  { models: /^(?:google|~google)\/|^gemini-embedding/i, inputs: 100 },
  { models: /^cohere\/|^embed-(?:v\d|english|multilingual)/i, inputs: 96 },
]
const MOST_INPUTS_ELSEWHERE = 2_048

/** Keeps the order; makes as few batches as possible, of sizes as even as possible. */
export function planBatches<T>(inputs: readonly T[], model: string): T[][] {
  const most = MOST_INPUTS.find(({ models }) => models.test(model))?.inputs ?? MOST_INPUTS_ELSEWHERE
  const count = Math.ceil(inputs.length / most)
  const size = Math.ceil(inputs.length / Math.max(1, count))
  return Array.from({ length: count }, (_, at) => inputs.slice(at * size, (at + 1) * size))
}
