/** The dashboard: the pages, and the admin API that the pages and OpenAI's clients call. */
import { Elysia } from 'elysia'
import { type AdminSetup, createAdmin } from '../admin/admin.ts'
import { createDashboardRedirect, hasValidUrl } from '../http/paths.ts'
import { respondWithBadHost } from '../http/respond.ts'
import { createAssetLookup } from './assets.ts'
import { createPagesController } from './pages-controller.ts'

export function createDashboard(setup: AdminSetup) {
  return new Elysia({ normalize: false }).use(createAdmin(setup)).use(createPagesController(createAssetLookup(), setup))
}

/** Creates the dashboard's server for a separate port. */
export function createDashboardServer(setup: AdminSetup) {
  return new Elysia({ normalize: false, handler: { standardHostname: false }, serve: { development: false } })
    .onRequest(({ request }) => (hasValidUrl(request) ? undefined : respondWithBadHost()))
    .use(createDashboard(setup))
    .get('/', ({ request }) => respondToRoot(request), { detail: { hide: true } })
    .onError(({ code }) => (code === 'NOT_FOUND' ? respondNotFound() : undefined))
}

function respondToRoot(request: Request): Response {
  const headers = createDashboardRedirect(request)
  return headers === null ? respondNotFound() : new Response(null, { status: 302, headers })
}

function respondNotFound(): Response {
  return new Response('Not found', { status: 404 })
}
