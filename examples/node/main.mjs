/** Streams the response to one question twice, and sends a request that its budget cannot pay for. Prints cache, cost and budget. */
import OpenAI, { RateLimitError } from 'openai'

const client = new OpenAI({
  baseURL: `${process.env.PROXY_URL}/v1`,
  apiKey: process.env.PROXY_KEY,
  // The budget of this example applies to requests with this tag.
  defaultHeaders: { 'X-Proxy-Tags': 'example=node' },
})
const print = line => process.stdout.write(`${line}\n`)

async function ask(question, maxTokens) {
  const { data, response } = await client.chat.completions
    .create({
      model: 'openai/gpt-4o-mini',
      max_tokens: maxTokens,
      stream: true,
      messages: [{ role: 'user', content: question }],
    })
    .withResponse()
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  print(text)
  const header = name => response.headers.get(`x-proxy-${name}`)
  // A stream's headers are sent before its end, so the cost of a miss is an estimate; the usage record has the final one.
  print(`${header('cache')} cost ${header('cost-usd')} left ${header('budget-remaining-usd') ?? '-'}`)
}

await ask('What is the longest river of France?', 100)
await ask('What is the longest river of France?', 100)
try {
  // It could cost more than the budget, so the provider is not called.
  await ask(`Write a long story.${' Describe every detail.'.repeat(5_000)}`, 16_000)
} catch (error) {
  if (!(error instanceof RateLimitError)) throw error
  print(error.code)
}
