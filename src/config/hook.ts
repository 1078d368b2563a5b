/** Settings of the hook, which allows or rejects requests and responses. */
import type { SettingsReader } from './settings-reader.ts'

export interface HookConfig {
  url: string
  /** The secret in base64, with or without the prefix `whsec_`. */
  secret: string
  timeoutMs: number
  /** The decision while the hook is unreachable: `closed` rejects requests, `open` allows them. */
  onFailure: 'closed' | 'open'
  /** Whether a stream is held until the hook has allowed the whole response, or forwarded live. */
  streams: 'hold' | 'live'
  /** The upper bound on the body of one call to the hook. */
  maxBytes: number
}

const SECRET = /^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/

/** Returns null when no address is set: no hook is called then. */
export function readHookConfig(read: SettingsReader): HookConfig | null {
  const example = 'http://127.0.0.1:8700'
  if (read.optionalText('HOOK_URL') === null) {
    // An operator who sets a secret expects the hook to be called.
    if (read.optionalText('HOOK_SECRET') !== null) read.problem('HOOK_URL', 'set where HOOK_SECRET is', example)
    return null
  }
  const secret = read.text('HOOK_SECRET', '')
  if (!SECRET.test(secret)) {
    read.problem('HOOK_SECRET', '24 bytes or more in base64, as `openssl rand -base64 32` prints', '<44 characters>')
  }
  return {
    url: read.baseUrl('HOOK_URL', example),
    secret,
    timeoutMs: read.integer('HOOK_TIMEOUT_MS', 2_000, 1, 60_000),
    onFailure: read.choice('HOOK_ON_FAILURE', 'closed', ['closed', 'open']),
    streams: read.choice('HOOK_STREAMS', 'hold', ['hold', 'live']),
    maxBytes: read.integer('HOOK_MAX_BYTES', 4_194_304, 1_024, 67_108_864),
  }
}
