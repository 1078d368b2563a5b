/** One reader for each kind of setting. */
import { createAddressReaders } from './address-readers.ts'
import { createFormattedValueReaders, createValueReaders, type Environment } from './value-readers.ts'

export type SettingsReader = ReturnType<typeof createSettingsReader>

export function createSettingsReader(environment: Environment, problems: string[]) {
  const values = createValueReaders(environment, problems)
  return { ...values, ...createAddressReaders(environment, values), ...createFormattedValueReaders(values) }
}
