/** The address of a process for clients, and the error if its port is not available. */
import { type Config, ConfigError } from '../config/config.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'

/** Creates the error for a port that is not available. `setting` is the setting that names the port. */
export function portUnavailableError(
  host: string,
  port: number,
  error: unknown,
  setting: 'PORT' | 'DASHBOARD' = 'PORT',
): ConfigError {
  const usual = setting === 'PORT' ? 3000 : 3001
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  return new ConfigError([
    isTaken
      ? `${setting} must be free on ${host}, and ${port} is in use. Example: ${setting}=${port === usual ? usual + 1 : usual}`
      : `HOST and ${setting} must be an address of this machine; ${host}:${port} is not: ${errorMessageOf(error)}. Example: HOST=127.0.0.1`,
  ])
}

export function baseUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${reachable}:${port}/v1`
}

/** Returns the URL of the dashboard: below PUBLIC_URL, unless the dashboard has a port of its own. */
export function dashboardUrl(
  { dashboard, publicUrl }: Pick<Config, 'dashboard' | 'publicUrl'>,
  baseUrl: string,
): string {
  const root = new URL(dashboard === 'on' ? (publicUrl ?? baseUrl) : baseUrl)
  if (typeof dashboard === 'number') root.port = String(dashboard)
  return `${root.origin}/dashboard`
}
