/** Projects and their settings. */
import { defineChange, defineRead } from './act-as.ts'

export const setSettings = defineChange()('set_settings', {
  project: 'project',
  settings: 'jsonb',
})
export const projectSettings = defineRead<{ result: Record<string, unknown> | null }>()('project_settings', {
  of_project: 'bigint',
})
