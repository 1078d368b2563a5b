/** Names of imported projects, keys and models. */

/** Control characters and line separators, which names here do not contain. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu

/** Shortens a text to a number of characters, none of which it splits. */
export const shorten = (text: string, length: number) => [...text].slice(0, length).join('')

export const nameKey = (given: string) => shorten(given.replace(CONTROL, ' '), 100)

/** Makes the names of a project's keys unique. */
export function nameKeys(keys: readonly { project: string; name: string; hash: string }[]): void {
  const taken = new Set<string>()
  for (const key of keys) {
    if (taken.has(`${key.project} ${key.name}`)) key.name = `${shorten(key.name, 85)} (${key.hash.slice(0, 8)})`
    taken.add(`${key.project} ${key.name}`)
  }
}

/** Turns a team's alias, or its id if nothing of the alias remains, into a project's name: letters, digits, dots, dashes and underscores. */
export function nameProject(alias: string, id: string, taken: Set<string>): string {
  const base = [alias, id, 'team'].map(cleanName).find(name => name !== '') ?? ''
  let name = base
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`
  taken.add(name)
  return name
}

const cleanName = (given: string) =>
  given
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 58)
    .replace(/-$/, '')

/** Returns whether a list of models or aliases can contain the name. */
export const isModelName = (name: string) => /^[^\s\p{Cc}=|,]{1,256}$/u.test(name)
