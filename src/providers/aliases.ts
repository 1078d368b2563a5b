/** A project's aliases: names that its clients may ask for in place of models. The setting `aliases` has each as `name=model|fallback|…`. */
import type { Account } from '../postgres/admit.ts'

export interface Alias {
  name: string
  model: string
  /** Asked in turn when the model cannot be reached; empty where the project's own are. */
  fallbacks: readonly string[]
}

type Aliased = Pick<Account, 'aliases'>

/** The alias of this name; null for a name that is none. An alias may have a model's name, and then stands for another. */
export function findAlias(name: string, { aliases }: Aliased): Alias | null {
  const written = aliases.find(alias => alias.startsWith(`${name}=`))
  return written === undefined ? null : readAlias(written)
}

export function listAliases({ aliases }: Aliased): Alias[] {
  return aliases.map(readAlias)
}

function readAlias(written: string): Alias {
  const at = written.indexOf('=')
  const [model = '', ...fallbacks] = written.slice(at + 1).split('|')
  return { name: written.slice(0, at), model, fallbacks }
}
