/** Finds environment variables that are no setting but resemble one. A start logs them, because they have no effect. */
import { processEnvironment } from '../config/config.ts'
import { findSimilarNames } from '../providers/similar-names.ts'
import type { Log } from '../telemetry/log.ts'

export interface MisspeltSetting {
  variable: string
  /** Similar settings, most similar first. */
  similarSettings: string[]
}

/** Logs misspelt settings, without their values. Logs nothing if .env.example was not copied with the program. */
export async function warnUnknownSettings(log: Pick<Log, 'warn'>): Promise<void> {
  const example = import('../../.env.example', { with: { type: 'text' } })
  const { default: text } = await example.catch(() => ({ default: '' }))
  for (const misspelt of findMisspeltSettings(processEnvironment, parseSettingNames(text)))
    log.warn(misspelt, 'an environment variable is no setting, but resembles a setting that is not set')
}

/** Returns the names of all settings in .env.example. */
export function parseSettingNames(example: string): string[] {
  return Array.from(example.matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]+)=/gm), ([, name]) => String(name))
}

/** Shorter names are ignored, because they resemble too many others. */
const MIN_LENGTH = 6
/** In names from this length on, two letters may differ. */
const LONG_NAME_LENGTH = 12
/** First words that no other program uses. Names that start with one may differ by more letters. */
const DISTINCTIVE_WORDS = ['AGGREGATOR', 'EMBEDDER', 'EMBEDDINGS', 'EMBEDDED', 'UPSTREAM']

export function findMisspeltSettings(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): MisspeltSetting[] {
  const known = new Set(settings.flatMap(name => [name, `${name}_FILE`]))
  const compared = [...known].filter(name => name.length >= MIN_LENGTH)
  const isSet = (name: string) => Boolean(environment[name]?.trim())
  return Object.keys(environment).flatMap(variable => {
    if (known.has(variable) || variable.length < MIN_LENGTH) return []
    const near = findSimilarNames(variable, compared, variable.length < LONG_NAME_LENGTH ? 1 : 2)
    const resembles = near.length > 0 ? near : findByWords(variable, settings)
    const setting = resembles[0]?.replace(/_FILE$/, '')
    // If the resembling setting is set, the variable belongs to another program.
    return setting === undefined || isSet(setting) || isSet(`${setting}_FILE`)
      ? []
      : [{ variable, similarSettings: resembles }]
  })
}

/** Finds settings with the same first word. Returns those with all words of the variable, if any. */
function findByWords(variable: string, settings: readonly string[]): string[] {
  const words = variable.toUpperCase().split('_')
  const [first = ''] = words
  if (!DISTINCTIVE_WORDS.includes(first)) return []
  const alike = findSimilarNames(
    variable,
    settings.filter(name => name.startsWith(`${first}_`)),
  )
  const whole = alike.filter(name => words.every(word => name.split('_').includes(word)))
  return whole.length > 0 ? whole : alike
}
