/** Names of imported projects and keys. */

/** Makes the names of a project's keys unique. */
export function nameKeys(keys: readonly { project: string; name: string; hash: string }[]): void {
  const taken = new Set<string>()
  for (const key of keys) {
    if (taken.has(`${key.project} ${key.name}`)) key.name = `${key.name.slice(0, 85)} (${key.hash.slice(0, 8)})`
    taken.add(`${key.project} ${key.name}`)
  }
}

/** Turns a team's name into a project's: letters, digits, dots, dashes and underscores. */
export function nameProject(given: string, taken: Set<string>): string {
  const base =
    given
      .normalize('NFKD')
      .replace(/[^A-Za-z0-9._]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .replace(/-$/, '')
      .slice(0, 58) || 'team'
  let name = base
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`
  taken.add(name)
  return name
}
