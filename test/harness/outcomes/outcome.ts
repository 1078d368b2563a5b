/** What a client gets, in whatever format: read as strictly as the SDKs read it. */

export type Endpoint = 'chat' | 'responses' | 'messages'
export type Mode = 'streamed' | 'plain'
export type Call = [name: string, args: string]

export interface Outcome {
  text: string
  reasoning: string
  /** Apart from the text, where the format tells it apart. */
  refusal: string
  calls: Call[]
  /** `stop`, `tools`, `length`, `filter`, `error`, `none` (no end at all), or what the format says in words of its own. */
  end: string
  /** What no SDK would accept. */
  problems: string[]
}

export function emptyOutcome(): Outcome {
  return { text: '', reasoning: '', refusal: '', calls: [], end: 'none', problems: [] }
}

/** Arguments in one spelling, for comparison; what is no JSON stays as it is. */
export function canonicalArguments(value: unknown): string {
  try {
    return JSON.stringify(typeof value === 'string' ? JSON.parse(value || '{}') : value)
  } catch {
    return String(value)
  }
}
