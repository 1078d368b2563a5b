/** Recorded streams that differ from OpenAI's format, so that clients read them differently from the plain response. */

export const USAGE_ELSEWHERE = 'Usage comes where OpenAI has none, though it was asked for.'

/** Streams with Groq's own usage field. */
export const GROQ_USAGE = {
  'Groq: usage in x_groq alone': USAGE_ELSEWHERE,
  'Groq: a tool call in one piece': USAGE_ELSEWHERE,
  'Groq: thoughts on a channel, tools it ran itself': USAGE_ELSEWHERE,
}

/** No client assembles a chunk without a delta. */
export const WHOLE_MESSAGE = {
  'A server that streams one whole message': 'A chunk with a message in place of a delta says nothing.',
}

/** The proxy changes these streams, because some clients would misread the provider's form. */
export const REPAIRED: Record<string, string> = {
  'Gemini by way of OpenAI’s format: every call numbered 0': 'Calls of one number are run together.',
  'Tool calls without numbers': 'Clients throw, or lose a fragment that names no call.',
  'Events after [DONE]': 'Some clients read on, and throw.',
}
