/** Queries and updates the settings of a project. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { sendRequest } from './api.ts'
import type { Settings } from './types.ts'

const settingsPath = (projectId: string) => `/v1/organization/projects/${projectId}/settings`

/** Without a project, nothing is loaded. */
export function useSettings(projectId: string | undefined) {
  return useQuery<Settings>({ queryKey: [settingsPath(projectId ?? '')], enabled: projectId !== undefined })
}

/** Updates settings by name. */
export function useUpdateSettings(projectId: string) {
  const path = settingsPath(projectId)
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (changes: Record<string, string>) => sendRequest<Settings>('POST', path, changes),
    onSuccess: settings => queries.setQueryData([path], settings),
  })
}
