/** Entry point of the pages. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, fetchJson, type QueryParameters } from './api.ts'
import { createDashboardRouter } from './router.tsx'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())

const queries = new QueryClient({
  defaultOptions: {
    // The proxy may run on this machine, so it can be reachable without a network.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // A query key consists of a URL path and its parameters.
      queryFn: ({ queryKey: [path, query] }) => fetchJson(String(path), query as QueryParameters | undefined),
      // A request with a 4xx status is not retried.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiError && error.status > 0 && error.status < 500),
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
