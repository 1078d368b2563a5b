/** Settings that are addresses: of stores, providers and pages. */
import { parseDatabaseUrl } from '../postgres/address.ts'
import type { Environment, Values } from './values.ts'

export function createAddresses(environment: Environment, { optionalText, problem }: Values) {
  function baseUrl(name: string, fallback: string): string {
    const value = optionalText(name) ?? fallback
    if (URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol)) return value.replace(/\/+$/, '')
    problem(name, 'an address that begins with http:// or https://', fallback)
    return fallback
  }

  function databaseUrl(name: string): string | null {
    const value = optionalText(name)
    if (value === null || parseDatabaseUrl(value) !== null) return value
    const must = 'an address that begins with postgres:// or postgresql://, of one host or several, separated by commas'
    problem(name, must, 'postgres://user:password@127.0.0.1:5432/model_proxy')
    return null
  }

  function redisUrl(name: string): string | null {
    const value = optionalText(name)
    if (value === null) return null
    const nodes = value.split(',').map(node => node.trim())
    if (nodes.every(node => URL.canParse(node) && ['redis:', 'rediss:'].includes(new URL(node).protocol))) return value
    problem(
      name,
      'one redis:// or rediss:// address, or a comma-separated list of cluster nodes',
      'redis://127.0.0.1:6379',
    )
    return null
  }

  function origins(name: string): '*' | readonly string[] {
    // A variable that is set but empty differs from one that is not set.
    const given = (environment[name] ?? '*').split(',').map(origin => origin.trim())
    const origins = given.filter(origin => origin !== '')
    if (origins.length === 1 && origins[0] === '*') return '*'
    if (origins.every(origin => URL.canParse(origin) && new URL(origin).origin === origin)) return origins
    problem(name, '*, or a comma-separated list of origins, or empty', 'https://app.example.com')
    return []
  }

  return { baseUrl, databaseUrl, redisUrl, origins }
}
