/** The result that a client receives, in any format. It is read as strictly as the SDKs read it. */

export type Endpoint = 'chat' | 'responses' | 'messages' | 'generate_content'
export type Mode = 'streamed' | 'plain'
export type Call = [name: string, args: string]

export interface Outcome {
  text: string
  reasoning: string
  /** Separate from the text, if the format separates them. */
  refusal: string
  calls: Call[]
  /** `stop`, `tools`, `length`, `filter`, `error`, `none` (the end is missing), or the format's own finish reason. */
  end: string
  /** Violations of the format that an SDK would reject. */
  problems: string[]
}

export function emptyOutcome(): Outcome {
  return { text: '', reasoning: '', refusal: '', calls: [], end: 'none', problems: [] }
}

/** Returns arguments as canonical JSON, for comparison. A text that is not JSON is returned unchanged. */
export function canonicalArguments(value: unknown): string {
  try {
    return JSON.stringify(typeof value === 'string' ? JSON.parse(value || '{}') : value)
  } catch {
    return String(value)
  }
}
