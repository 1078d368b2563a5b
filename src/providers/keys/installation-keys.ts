/** Reads the keys of the installation, which projects use that have none of their own: of a setting, or sealed in the database. */
import { readFile } from 'node:fs/promises'
import type { KeySource, VendorSettingsByPrefix } from '../../config/vendor-settings.ts'
import { settingPrefixOf, type Vendor } from '../../config/vendors.ts'
import { createError } from '../../errors/errors.ts'
import { monotonicMs } from '../../event-loop/clock.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import type { Database } from '../../postgres/database.ts'
import type { SealContext } from '../../stores/seal.ts'
import type { Vault } from './vault.ts'

export interface InstallationKeys {
  /** Returns the key; null for a vendor that needs none. Throws a 503 when it cannot be read. */
  read(vendor: Vendor): Promise<string | null>
  /** Discards a key that the vendor rejected. Returns whether `read` may now return another one. */
  renew(vendor: Vendor): boolean
}

export interface InstallationKeysOptions {
  settings: VendorSettingsByPrefix
  database: Pick<Database, 'call'>
  vault: Pick<Vault, 'open'>
}

/** How long the output of a command is used. Access tokens of clouds are valid for an hour. */
const RENEW_AFTER_MS = 30 * 60_000
/** The shortest time between two renewals after rejections. */
const MIN_RENEWAL_MS = 10_000
const TIME_LIMIT_MS = 30_000
const KEY = /^[\x21-\x7e]{1,16384}$/

/** Returns the owner of a vendor's installation key, with which it is sealed. No project has the id 0. */
export function installationKeyOwner(vendor: string): SealContext {
  return { projectId: 0, provider: vendor }
}

const READ_SEALED = 'select sealed from model_proxy.vendor_keys where vendor = $1::text'

export function createInstallationKeys({ settings, database, vault }: InstallationKeysOptions): InstallationKeys {
  /** The outputs of commands by vendor. */
  const outputs = new Map<string, { atMs: number; key: Promise<string> }>()
  /** The times of the last renewals after a rejection, by vendor. */
  const renewals = new Map<string, number>()

  async function readStored({ name }: Vendor): Promise<string> {
    const [row] = await withTimeout(1_000, database.call<{ sealed: Uint8Array }>(READ_SEALED, [name]))
    if (!row) throw new Error('it was removed')
    return vault.open(row.sealed, installationKeyOwner(name))
  }

  function runCommand({ name }: Vendor, command: readonly string[]): Promise<string> {
    const known = outputs.get(name)
    if (known && monotonicMs() - known.atMs < RENEW_AFTER_MS) return known.key
    const key = readOutput(command)
    const output = { atMs: monotonicMs(), key }
    outputs.set(name, output)
    key.catch(() => outputs.get(name) === output && outputs.delete(name))
    return key
  }

  function readSource(vendor: Vendor, source: KeySource): string | Promise<string> {
    if ('value' in source) return source.value
    return 'file' in source ? readFile(source.file, 'utf8') : runCommand(vendor, source.command)
  }

  return {
    async read(vendor) {
      if (vendor.shared_access === 'keyless') return null
      const source = settings.get(settingPrefixOf(vendor.name))?.key
      try {
        const key = (await (source ? readSource(vendor, source) : readStored(vendor))).trim()
        if (KEY.test(key)) return key
        throw new Error('it is not one word of printable ASCII characters')
      } catch (error) {
        throw createError('installationKeyUnreadable', { provider: vendor.name }, error)
      }
    },
    renew({ name }) {
      const source = settings.get(settingPrefixOf(name))?.key
      if (!source || 'value' in source) return false
      const now = monotonicMs()
      if (now - (renewals.get(name) ?? Number.NEGATIVE_INFINITY) < MIN_RENEWAL_MS) return false
      renewals.set(name, now)
      outputs.delete(name)
      return true
    },
  }
}

/** Runs a program without a shell and returns what it prints. Throws when it fails or takes long. Its output is in no message. */
async function readOutput(command: readonly string[]): Promise<string> {
  const running = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', timeout: TIME_LIMIT_MS })
  const [output, exitCode] = await Promise.all([new Response(running.stdout).text(), running.exited])
  if (exitCode !== 0) throw new Error(`the command exited with ${exitCode}`)
  return output
}
