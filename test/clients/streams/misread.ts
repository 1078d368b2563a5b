/** Recorded streams that their upstream writes otherwise than OpenAI does, so that clients read something else in them than in the plain answer. */

export const USAGE_ELSEWHERE = 'Usage comes where OpenAI has none, though it was asked for.'

/** Groq's own way of telling usage. */
export const GROQ_USAGE = {
  'Groq: usage in x_groq alone': USAGE_ELSEWHERE,
  'Groq: a tool call in one piece': USAGE_ELSEWHERE,
  'Groq: thoughts on a channel, tools it ran itself': USAGE_ELSEWHERE,
}

/** None of the clients adds up what has no deltas. */
export const WHOLE_MESSAGE = {
  'A server that streams one whole message': 'A chunk with a message in place of a delta says nothing.',
}

/** The proxy sends these otherwise than their provider does, because some clients would misread them. */
export const REPAIRED: Record<string, string> = {
  'Gemini by way of OpenAI’s format: every call numbered 0': 'Calls of one number are run together.',
  'Tool calls without numbers': 'Clients throw, or lose a fragment that names no call.',
  'Events after [DONE]': 'Some clients read on, and throw.',
}
