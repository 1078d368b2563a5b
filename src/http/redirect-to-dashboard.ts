/** Redirects a browser that opens `/` to the dashboard. Programs still get a 404. */
import { parseUrl } from './paths.ts'

export const DASHBOARD_PATH = '/dashboard'

/** Returns the redirect's headers; null unless a browser requests `/`. */
export function createDashboardRedirect(request: Request): Record<string, string> | null {
  const isReadMethod = request.method === 'GET' || request.method === 'HEAD'
  if (!isReadMethod || parseUrl(request).pathname !== '/' || !acceptsHtml(request.headers.get('accept'))) return null
  return { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
}

/** Whether the Accept header lists HTML explicitly. Programs accept everything by a wildcard. */
function acceptsHtml(accept: string | null): boolean {
  return (accept ?? '').split(',').some(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
