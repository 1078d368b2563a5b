/** Finds the provider that keeps a project's files or batches: whom the client names, or the first that the project has a key for. */
import { AGGREGATOR } from '../catalogue/catalogue.ts'
import { type DirectProvider, VENDORS } from '../config/vendors.ts'
import { type ProxyError, refuse } from '../errors/errors.ts'
import type { Account } from '../postgres/admit.ts'
import { type Collection, DEFAULT_KEY } from '../postgres/kept-objects.ts'
import { noKeeper, nothingKeptInSandbox } from './no-route.ts'
import type { NamedVendor } from './operations.ts'
import type { Provider } from './upstream.ts'

/** What says who keeps an object. */
export interface WantedKeeper {
  /** The keeper of an existing object, as `nameKeeper` writes it. */
  as?: string
  /** Whose API the client speaks. */
  vendor?: NamedVendor | undefined
}

const keptBy = (collection: Collection) =>
  VENDORS.filter(({ keeps }) => keeps.includes(collection)).map(({ name }) => name)

/** In order of preference. */
const KEEPERS: Record<Collection, readonly (DirectProvider | typeof AGGREGATOR)[]> = {
  files: [...keptBy('files'), AGGREGATOR],
  batches: [...keptBy('batches'), AGGREGATOR],
  message_batches: keptBy('message_batches'),
  anthropic_files: keptBy('anthropic_files'),
}

/** The providers that a project reaches; `aggregator` is null where none is configured. */
interface Reached {
  aggregator: (() => Provider) | null
  direct(name: DirectProvider): Provider
}

export function keeperOfObjects(
  account: Pick<Account, 'key_type' | 'direct_providers'>,
  collection: Collection,
  { as, vendor }: WantedKeeper,
  { aggregator, direct }: Reached,
): Provider | ProxyError {
  if (account.key_type === 'test') return nothingKeptInSandbox()
  const [keeper, key = DEFAULT_KEY] = as?.split('/') ?? []
  const named = keeper ?? vendor
  for (const name of KEEPERS[collection]) {
    if (named !== undefined && name !== named) continue
    if (name === AGGREGATOR) {
      if (aggregator) return aggregator()
    } else if (account.direct_providers.includes(name)) {
      const provider = direct(name)
      return keeper === undefined ? provider : (provider.withKey?.(key) ?? provider)
    }
  }
  return as === undefined ? noKeeper(collection, vendor) : refuse('keeperGone', { provider: as })
}
