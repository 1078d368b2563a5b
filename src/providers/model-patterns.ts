/** Matches model names against patterns, in which `*` stands for any characters, including none. */

export function matchesAnyModelPattern(model: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => matchesModelPattern(model, pattern))
}

function matchesModelPattern(model: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return model === first
  if (!model.startsWith(first)) return false
  let position = first.length
  for (const part of rest) {
    const found = model.indexOf(part, position)
    if (found < 0) return false
    position = found + part.length
  }
  return model.length - last.length >= position && model.endsWith(last)
}
