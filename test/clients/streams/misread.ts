/** Recorded streams that differ from OpenAI's format, so that clients read them differently from the plain response. */

export const USAGE_ELSEWHERE = 'Usage is in a place where OpenAI never has it.'

/** Streams with Groq's own usage field. */
export const GROQ_USAGE = {
  'Groq: usage in x_groq alone': USAGE_ELSEWHERE,
  'Groq: a tool call in one piece': USAGE_ELSEWHERE,
  'Groq: thoughts on a channel, tools it ran itself': USAGE_ELSEWHERE,
}

/** No client assembles a chunk without a delta. */
export const WHOLE_MESSAGE = {
  'A server that streams one whole message': 'Clients ignore a chunk that has a message in place of a delta.',
}

/** The proxy changes these streams, because some clients would misread the provider's form. */
export const REPAIRED: Record<string, string> = {
  'Gemini by way of OpenAI’s format: every call numbered 0': 'Clients merge calls with the same index.',
  'Tool calls without numbers': 'Clients throw, or drop a fragment without an index.',
  'Events after [DONE]': 'Some clients continue to read, and throw.',
}
