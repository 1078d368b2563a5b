/** A project's budgets: what is set, what is left, and setting and removing one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Empty } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { buttonColumn, Table } from '../components/table.tsx'
import { formatCount, formatTime, formatUsd, isolated } from '../format.ts'
import { may } from '../session.ts'
import type { Budget, Project } from '../types.ts'

const PERIODS = [
  ['month', 'A month'],
  ['week', 'A week, from Monday'],
  ['day', 'A day'],
  ['total', 'In all'],
] as const
const UNITS = [
  ['usd', 'US dollars'],
  ['tokens', 'Tokens'],
] as const
const SCOPES = [
  ['project', 'The whole project'],
  ['model', 'One model'],
  ['tag', 'One tag'],
  ['api_key_id', 'One API key'],
] as const

export function Budgets({ project }: { project: Project }) {
  const [isSetting, setIsSetting] = useState(false)
  const [removing, setRemoving] = useState<Budget | null>(null)
  const queries = useQueryClient()
  const path = `/v1/organization/projects/${project.id}/budgets`
  const mayChange = may(project, 'owner')
  const budgets = useQuery({
    queryKey: ['budgets', project.id],
    queryFn: () => get<{ data: Budget[] }>(path),
    refetchInterval: 5_000,
  })
  const refresh = () => void queries.invalidateQueries({ queryKey: ['budgets', project.id] })
  return (
    <Card title="Budgets" action={mayChange && <Button onClick={() => setIsSetting(true)}>Set budget</Button>}>
      <Table
        label="Budgets"
        rows={budgets.data?.data}
        error={budgets.error}
        keyOf={budget => budget.id}
        empty={<Empty title="No budget">Nothing limits what this project may spend.</Empty>}
        columns={[
          { title: 'For', look: 'strong', cell: scopeOf },
          { title: 'Per', cell: budget => <Badge>{budget.per}</Badge> },
          { title: 'Budget', numeric: true, cell: budget => format(budget, budget.amount) },
          { title: 'Spent', numeric: true, cell: budget => format(budget, budget.spent) },
          { title: 'Left', numeric: true, cell: budget => format(budget, budget.remaining) },
          {
            title: 'Resets',
            cell: ({ resets_at }) => (resets_at === null ? 'Never' : formatTime(resets_at)),
          },
          buttonColumn(
            'Remove',
            budget => (mayChange ? `the budget of ${scopeOf(budget)}` : null),
            (budget: Budget) => setRemoving(budget),
          ),
        ]}
      />
      {isSetting && <SetBudget path={path} onDone={refresh} onClose={() => setIsSetting(false)} />}
      {removing && (
        <Confirm
          title="Remove budget"
          action="Remove"
          run={() => call('DELETE', `${path}/${removing.id}`)}
          onDone={refresh}
          onClose={() => setRemoving(null)}
        >
          {isolated(scopeOf(removing))} may then spend any amount, as far as other budgets allow.
        </Confirm>
      )}
    </Card>
  )
}

function scopeOf({ api_key_name, api_key_id, tag, model }: Budget): string {
  const named = [api_key_name ?? api_key_id, tag, model].filter(part => part !== null)
  return named.length === 0 ? 'The whole project' : named.join(', ')
}

function format({ unit }: Budget, amount: number): string {
  return unit === 'usd' ? formatUsd(amount) : formatCount(amount)
}

function SetBudget({ path, onDone, onClose }: { path: string; onDone(): void; onClose(): void }) {
  const [unit, setUnit] = useState('usd')
  const [amount, setAmount] = useState('')
  const [per, setPer] = useState('month')
  const [scope, setScope] = useState('project')
  const [named, setNamed] = useState('')
  const setting = useMutation({
    mutationFn: () =>
      call('POST', path, { unit, amount: Number(amount), per, ...(scope === 'project' ? {} : { [scope]: named }) }),
    onSuccess() {
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title="Set budget" action="Set budget" sending={setting} onClose={onClose}>
      <TextField label="Amount" required inputMode="decimal" value={amount} onChange={setAmount} />
      <SelectField label="Of" value={unit} choices={UNITS} onChange={setUnit} />
      <SelectField label="Per" value={per} choices={PERIODS} onChange={setPer} />
      <SelectField label="For" value={scope} choices={SCOPES} onChange={setScope} />
      {scope !== 'project' && (
        <TextField
          label="Name"
          required
          hint="A model’s name, a tag such as team=search, or a key’s id."
          value={named}
          onChange={setNamed}
        />
      )}
    </FormDialog>
  )
}
