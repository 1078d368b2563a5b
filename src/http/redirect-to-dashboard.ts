/** Leads a person who opens the bare address in a browser to the dashboard. Programs are told nothing else than before. */
import { parseUrl } from './paths.ts'

export const DASHBOARD_PATH = '/dashboard'

/** The redirect's headers; null for a request that is no browser's for the bare address. */
export function createDashboardRedirect(request: Request): Record<string, string> | null {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || parseUrl(request).pathname !== '/' || !takesPages(request.headers.get('accept'))) return null
  return { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
}

/** Whether pages are named as acceptable: everything by `*` is what programs accept. */
function takesPages(accept: string | null): boolean {
  return (accept ?? '').split(',').some(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
