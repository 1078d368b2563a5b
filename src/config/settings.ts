/** One reader for each kind of setting. */
import { createAddresses } from './addresses.ts'
import { createFormedValues } from './formed-values.ts'
import { createValues, type Environment } from './values.ts'

export type Settings = ReturnType<typeof createSettings>

export function createSettings(environment: Environment, problems: string[]) {
  const values = createValues(environment, problems)
  return { ...values, ...createAddresses(environment, values), ...createFormedValues(values) }
}
