import { createRoot } from 'react-dom/client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRouter, createRootRoute, RouterProvider } from '@tanstack/react-router'
import uPlot from 'uplot'
const router = createRouter({ routeTree: createRootRoute({ component: () => <b className="p-4 text-teal-700">Hi</b> }) })
console.log(uPlot)
createRoot(document.getElementById('root')!).render(<QueryClientProvider client={new QueryClient()}><RouterProvider router={router} /></QueryClientProvider>)
