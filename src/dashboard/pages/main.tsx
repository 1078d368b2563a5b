/** Entry point of the pages. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, fetchJson, type QueryParameters } from './api.ts'
import { createDashboardRouter } from './router.tsx'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())

/** The interval between attempts to load what is not there yet. */
const FIRST_LOAD_EVERY_MS = 10_000
/** Returns whether a request may succeed if it is sent again: not with a 4xx status. */
const mayRecover = (error: Error) => !(error instanceof ApiError && error.status > 0 && error.status < 500)

const queries = new QueryClient({
  defaultOptions: {
    // The proxy may run on this machine, so it can be reachable without a network.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // A query key consists of a URL path and its parameters.
      queryFn: ({ queryKey: [path, query] }) => fetchJson(String(path), query as QueryParameters | undefined),
      retry: (failures, error) => failures < 2 && mayRecover(error),
      // What a page could not load at first, it loads when the proxy is back.
      refetchInterval: ({ state: { data, error } }) =>
        data === undefined && error !== null && mayRecover(error) ? FIRST_LOAD_EVERY_MS : false,
    },
  },
})
// A request that is rejected without a valid session clears the session, which shows the login form.
for (const cache of [queries.getQueryCache(), queries.getMutationCache()]) {
  cache.subscribe(event => {
    const error = event.type === 'updated' && event.action.type === 'error' ? event.action.error : null
    if (error instanceof ApiError && error.code === 'invalid_admin_key') queries.setQueryData(['session'], null)
  })
}

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={createDashboardRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
