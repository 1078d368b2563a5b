/** Which models a project's clients may ask for: the name patterns of its setting allowed_models. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

type Narrowed = Pick<Account, 'allowed_models'>

export function isAllowed(model: string, { allowed_models }: Narrowed): boolean {
  return allowed_models === null || allowed_models.some(pattern => matches(model, pattern))
}

/** Returns a 403 for the first model that the project does not allow; null when it allows all. */
export function refuseUnallowed(models: readonly string[], account: Narrowed): ProxyError | null {
  const refused = models.find(model => !isAllowed(model, account))
  return refused === undefined ? null : notAllowed(refused, account.allowed_models ?? [])
}

/** `*` stands for any characters, including none. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

const MOST_SHOWN = 10

function notAllowed(model: string, patterns: readonly string[]): ProxyError {
  const shown = patterns.slice(0, MOST_SHOWN).join(', ')
  return refuse('modelNotAllowed', {
    model: JSON.stringify(model.slice(0, 100)),
    patterns: `${shown}${patterns.length > MOST_SHOWN ? ', …' : ''}`,
  })
}
