/** Settings of the hook that says what may pass. */
import type { SettingsReader } from './settings-reader.ts'

export interface HookConfig {
  url: string
  /** In base64, behind `whsec_` or not. */
  secret: string
  timeoutMs: number
  /** What becomes of requests while it is not heard: refused, or let pass. */
  onFailure: 'closed' | 'open'
  /** Whether a stream waits until its answer has passed. */
  streams: 'hold' | 'live'
  /** Of one question. */
  maxBytes: number
}

const SECRET = /^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/

/** Null without an address: nothing is asked. */
export function readHookConfig(read: SettingsReader): HookConfig | null {
  const example = 'http://127.0.0.1:8700'
  if (read.optionalText('HOOK_URL') === null) {
    // Whoever believes to be guarded should be.
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
