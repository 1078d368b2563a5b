/** The sandbox provider's responses: generated here, deterministic, marked, and never a model's. */
import { completeChat } from './chat.ts'
import { completeText } from './completions.ts'
import { embedInputs } from './embeddings.ts'

const ANSWERS = { chat: completeChat, completions: completeText, embeddings: embedInputs }

/**
 * Returns the body of a plain response in OpenAI's format; callers cut streams from it. The same request gives the same response except
 * for `created`, streamed or not. Accepts any JSON object: throws a 400 `ProxyError` that names the field for what OpenAI would refuse,
 * and for schemas without an instance or beyond the sandbox's limits.
 */
export async function answerInSandbox(
  endpoint: keyof typeof ANSWERS,
  request: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  return ANSWERS[endpoint](request)
}
