/** Queries and updates the settings of a project. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { sendRequest } from './api.ts'
import type { SettingEffects, Settings } from './types.ts'

const settingsPath = (projectId: string) => `/v1/organization/projects/${projectId}/settings`

/** Without a project, nothing is loaded. */
export function useSettings(projectId: string | undefined) {
  return useQuery<Settings>({ queryKey: [settingsPath(projectId ?? '')], enabled: projectId !== undefined })
}

/** What other settings would have changed in the last week. */
export function useSettingEffects(projectId: string) {
  return useQuery<SettingEffects>({ queryKey: [`${settingsPath(projectId)}/effects`], staleTime: 60_000 })
}

/** Updates settings by name. */
export function useUpdateSettings(projectId: string) {
  const path = settingsPath(projectId)
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (changes: Record<string, string>) => sendRequest<Settings>('POST', path, changes),
    onSuccess: settings => {
      queries.setQueryData([path], settings)
      return queries.invalidateQueries({ queryKey: [`${path}/effects`] })
    },
  })
}
