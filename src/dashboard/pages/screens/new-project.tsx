/** Creates a project. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Button } from '../components/basics.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { formatPlural } from '../format.ts'
import type { Page, Plan, Project } from '../types.ts'

export function usePlans() {
  return useQuery({
    queryKey: ['plans'],
    queryFn: () => get<Page<Plan>>('/v1/organization/plans').then(page => page.data),
  })
}

export function NewProject() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New project
      </Button>
      {open && <NewProjectDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function NewProjectDialog({ onClose }: { onClose(): void }) {
  const plans = usePlans()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [plan, setPlan] = useState('free')
  const making = useMutation({
    mutationFn: () => call<Project>('POST', '/v1/organization/projects', { name, plan }),
    onSuccess: async project => {
      // Before the list is read again: the start page leads to the overview as soon as there is a project.
      await navigate({ to: `/${project.id}/settings/keys` as never })
      onClose()
      await queries.invalidateQueries({ queryKey: ['projects'] })
    },
  })
  const choices = (plans.data ?? []).map(
    each => [each.name, `${each.name} – ${formatPlural(each.requests_per_month, 'request')} a month`] as const,
  )
  return (
    <FormDialog title="New project" action="Create project" sending={making} onClose={onClose}>
      <TextField
        label="Name"
        required
        autoComplete="off"
        maxLength={63}
        hint="Letters, digits, dots, dashes and underscores."
        value={name}
        onChange={setName}
      />
      <SelectField label="Plan" value={plan} choices={choices} onChange={setPlan} />
    </FormDialog>
  )
}
