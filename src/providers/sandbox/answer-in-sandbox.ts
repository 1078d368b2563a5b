/** Owns the sandbox provider's answers: made here, deterministic, marked as such, and never a model's. */
import { completeChat } from './chat.ts'
import { completeText } from './completions.ts'
import { embedInputs } from './embeddings.ts'

const ANSWERS = { chat: completeChat, completions: completeText, embeddings: embedInputs }

/**
 * The whole body of a plain answer in OpenAI's form; streams are for the caller to cut from it. The same request gives
 * the same answer but for `created`, streamed or not. Any JSON object may come in: throws a 400 `ProxyError` that names
 * the field for what OpenAI would refuse, and for schemas without an instance or beyond the sandbox's bounds.
 */
export async function answerInSandbox(
  endpoint: keyof typeof ANSWERS,
  request: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  return ANSWERS[endpoint](request)
}
