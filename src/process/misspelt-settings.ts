/** Variables of the environment that are no setting but are written almost like one: a start says so, since nothing else would. */
import { processEnvironment } from '../config/config.ts'
import { findSimilarNames } from '../providers/similar-names.ts'
import type { Log } from '../telemetry/log.ts'

export interface MisspeltSetting {
  variable: string
  /** The most similar first. */
  similarSettings: string[]
}

/** Names their variables, never what is in them. Where the example was not copied with the program, it says nothing. */
export async function warnUnknownSettings(log: Pick<Log, 'warn'>): Promise<void> {
  const example = import('../../.env.example', { with: { type: 'text' } })
  const { default: text } = await example.catch(() => ({ default: '' }))
  for (const misspelt of findMisspeltSettings(processEnvironment, parseSettingNames(text)))
    log.warn(misspelt, 'an environment variable is no setting, but resembles one that is not set')
}

/** All settings, from the example that lists them. */
export function parseSettingNames(example: string): string[] {
  return Array.from(example.matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]+)=/gm), ([, name]) => String(name))
}

/** Shorter names resemble too many others. */
const SHORTEST = 6
/** From this length on, two letters may differ. */
const LONG = 12
/** First words that no other program's variables have: what follows may differ by more. */
const OWN_WORDS = ['AGGREGATOR', 'EMBEDDER', 'EMBEDDINGS', 'EMBEDDED', 'UPSTREAM']

export function findMisspeltSettings(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): MisspeltSetting[] {
  const known = new Set(settings.flatMap(name => [name, `${name}_FILE`]))
  const compared = [...known].filter(name => name.length >= SHORTEST)
  const isSet = (name: string) => Boolean(environment[name]?.trim())
  return Object.keys(environment).flatMap(variable => {
    if (known.has(variable) || variable.length < SHORTEST) return []
    const near = findSimilarNames(variable, compared, variable.length < LONG ? 1 : 2)
    const resembles = near.length > 0 ? near : findByWords(variable, settings)
    const setting = resembles[0]?.replace(/_FILE$/, '')
    // Beside the setting itself, it is something else.
    return setting === undefined || isSet(setting) || isSet(`${setting}_FILE`)
      ? []
      : [{ variable, similarSettings: resembles }]
  })
}

/** Those that have all of its words come first. */
function findByWords(variable: string, settings: readonly string[]): string[] {
  const words = variable.toUpperCase().split('_')
  const [first = ''] = words
  if (!OWN_WORDS.includes(first)) return []
  const alike = findSimilarNames(
    variable,
    settings.filter(name => name.startsWith(`${first}_`)),
  )
  const whole = alike.filter(name => words.every(word => name.split('_').includes(word)))
  return whole.length > 0 ? whole : alike
}
