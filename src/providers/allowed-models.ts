/** Which models a project lets its clients ask for: by patterns of names, as its setting allowed_models has them. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'

type Narrowed = Pick<Account, 'allowed_models'>

export function isAllowed(model: string, { allowed_models }: Narrowed): boolean {
  return allowed_models === null || allowed_models.some(pattern => matches(model, pattern))
}

/** 403 for the first of these that the project does not allow; null where it allows all. */
export function refuseUnallowed(models: readonly string[], account: Narrowed): ProxyError | null {
  const refused = models.find(model => !isAllowed(model, account))
  return refused === undefined ? null : notAllowed(refused, account.allowed_models ?? [])
}

/** `*` stands for any characters, none included. */
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
