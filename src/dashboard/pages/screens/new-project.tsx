/** Making a project. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { call, get } from '../api.ts'
import { Button, Problem, SelectField, TextField } from '../components/basics.tsx'
import { Dialog } from '../components/dialog.tsx'
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
      await queries.invalidateQueries({ queryKey: ['projects'] })
      onClose()
      await navigate({ to: `/${project.id}/keys` as never })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    making.mutate()
  }
  return (
    <Dialog title="New project" onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Name"
          required
          autoComplete="off"
          maxLength={63}
          hint="Letters, digits, dots, dashes and underscores."
          value={name}
          onChange={event => setName(event.target.value)}
        />
        <SelectField label="Plan" value={plan} onChange={event => setPlan(event.target.value)}>
          {(plans.data ?? []).map(each => (
            <option key={each.name} value={each.name}>
              {each.name} – {each.requests_per_month.toLocaleString()} requests a month
            </option>
          ))}
        </SelectField>
        <Problem error={making.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={making.isPending}>
            Create project
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
