/** A project's aliases: names that its clients may request in place of models. The setting `aliases` holds each as `name=model|fallback|…`. */
import type { ResolvedKey } from '../postgres/admit-requests.ts'

export interface ModelAlias {
  name: string
  model: string
  /** Models that are called in turn when `model` cannot be reached. Empty: the project's own fallbacks apply. */
  fallbacks: readonly string[]
}

type ResolvedAliases = Pick<ResolvedKey, 'aliases'>

/** Returns the alias with this name; null when there is none. An alias may have the name of a model and stand for another model. */
export function findModelAlias(name: string, { aliases }: ResolvedAliases): ModelAlias | null {
  const entry = aliases.find(alias => alias.startsWith(`${name}=`))
  return entry === undefined ? null : parseAlias(entry)
}

export function listModelAliases({ aliases }: ResolvedAliases): ModelAlias[] {
  return aliases.map(parseAlias)
}

function parseAlias(entry: string): ModelAlias {
  const separatorAt = entry.indexOf('=')
  const [model = '', ...fallbacks] = entry.slice(separatorAt + 1).split('|')
  return { name: entry.slice(0, separatorAt), model, fallbacks }
}
