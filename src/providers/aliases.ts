/** A project's aliases: names that its clients may ask for in place of models. The setting `aliases` has each as `name=model|fallback|…`. */
import type { ResolvedKey } from '../postgres/admit-requests.ts'

export interface ModelAlias {
  name: string
  model: string
  /** Asked in turn when the model cannot be reached; empty where the project's own are. */
  fallbacks: readonly string[]
}

type Aliased = Pick<ResolvedKey, 'aliases'>

/** The alias of this name; null for a name that is none. An alias may have a model's name, and then stands for another. */
export function findModelAlias(name: string, { aliases }: Aliased): ModelAlias | null {
  const written = aliases.find(alias => alias.startsWith(`${name}=`))
  return written === undefined ? null : readAlias(written)
}

export function listModelAliases({ aliases }: Aliased): ModelAlias[] {
  return aliases.map(readAlias)
}

function readAlias(written: string): ModelAlias {
  const at = written.indexOf('=')
  const [model = '', ...fallbacks] = written.slice(at + 1).split('|')
  return { name: written.slice(0, at), model, fallbacks }
}
