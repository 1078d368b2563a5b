/** Owns what a choice is while an answer is put together, in chat and in text completions. */

export interface Choice {
  /** The choice as the answer has it, less its index. */
  choice: Record<string, unknown>
  /** What it counts as completion tokens. */
  tokens: number
}

export function numberChoices(choices: Choice[]): Record<string, unknown>[] {
  return choices.map(({ choice }, index) => ({ index, ...choice }))
}

export function sumTokens(choices: Choice[]): number {
  return choices.reduce((sum, { tokens }) => sum + tokens, 0)
}
