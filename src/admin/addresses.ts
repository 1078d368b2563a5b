/** The URLs of the dashboard and the proxy. They derive from PUBLIC_URL if it is set, else from the request's own URL. */
import type { Config } from '../config/config.ts'
import { isHttps } from '../http/is-https.ts'

export type AddressConfig = Pick<Config, 'publicUrl' | 'port' | 'dashboard' | 'trustedProxies'>

/** Returns the dashboard's public origin; null if it is unknown. PUBLIC_URL applies only if the dashboard shares the proxy's port. */
export function publicDashboardOriginOf({
  publicUrl,
  dashboard,
}: Pick<Config, 'publicUrl' | 'dashboard'>): string | null {
  return publicUrl !== null && dashboard === 'on' ? new URL(publicUrl).origin : null
}

/** Returns the dashboard's origin. */
export function dashboardOriginOf(request: Request, config: AddressConfig): string {
  const origin = publicDashboardOriginOf(config)
  if (origin !== null) return origin
  return `${isHttps(request, config.trustedProxies) ? 'https' : 'http'}://${request.headers.get('host') ?? 'localhost'}`
}

/** Returns the base URL for clients. It ends in /v1. */
export function proxyBaseUrlOf(request: Request, config: AddressConfig): string {
  if (config.publicUrl !== null) return `${config.publicUrl}/v1`
  const url = new URL('/v1', dashboardOriginOf(request, config))
  if (typeof config.dashboard === 'number') url.port = String(config.port)
  return url.href
}
