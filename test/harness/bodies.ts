/** A small request for each endpoint that calls a model. */
const MESSAGES = [{ role: 'user', content: 'What is the capital of France?' }]

export const BODIES: Record<string, Record<string, unknown>> = {
  '/chat/completions': { model: 'gpt-4o-mini', messages: MESSAGES },
  '/completions': { model: 'gpt-4o-mini', prompt: 'Once' },
  '/responses': { model: 'gpt-4o-mini', input: 'Once' },
  '/messages': { model: 'claude-haiku-4-5', max_tokens: 50, messages: MESSAGES },
  '/embeddings': { model: 'text-embedding-3-small', input: 'Once' },
  '/moderations': { model: 'omni-moderation-latest', input: 'Once' },
  '/rerank': { model: 'cohere/rerank-v3.5', query: 'Once', documents: ['one', 'two'] },
}
