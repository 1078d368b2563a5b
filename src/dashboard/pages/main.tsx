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
    // The proxy may be on this machine: whether there is a network says nothing of it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // A query is named by the address that it reads, and its parameters.
      queryFn: ({ queryKey: [path, query] }) => fetchJson(String(path), query as QueryParameters | undefined),
      // A 4xx does not change on a retry.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiError && error.status > 0 && error.status < 500),
    },
  },
})
// Whatever is refused for want of a session ends it, and so shows the login.
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
