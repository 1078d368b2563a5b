/** The account page: password, sessions and admin API keys of the logged-in user. */
import { useMutation } from '@tanstack/react-query'
import { sendRequest } from '../api.ts'
import { Button, Card, PageHeader } from '../components/elements.tsx'
import { FindKeyButton } from '../components/find-key.tsx'
import { Form, NEW_PASSWORD_FIELD, PASSWORD_FIELD } from '../components/form.tsx'
import { escapeControlCharacters } from '../format.ts'
import { isAdministrator, useSession } from '../session.ts'
import { AdminKeys } from './admin-keys.tsx'
import { Sessions } from './sessions.tsx'

export default function Account() {
  const session = useSession()
  return (
    <>
      <PageHeader title="Account" action={isAdministrator(session.data) && <FindKeyButton />}>
        {escapeControlCharacters(session.data?.user.email ?? '')}
      </PageHeader>
      <div className="space-y-5">
        <Password />
        <Sessions />
        {isAdministrator(session.data) && <AdminKeys />}
      </div>
    </>
  )
}

const PASSWORD_FIELDS = [
  { ...PASSWORD_FIELD, name: 'password', label: 'Current password' },
  { ...NEW_PASSWORD_FIELD, name: 'new_password', hint: 'At least 12 characters.' },
]

function Password() {
  const saving = useMutation({
    mutationFn: (passwords: unknown) => sendRequest('POST', '/dashboard/api/password', passwords),
  })
  return (
    <Card title="Password">
      <Form fields={PASSWORD_FIELDS} sending={saving} className="max-w-md p-4">
        <div className="flex flex-row-reverse items-center justify-end gap-3">
          <span role="status" className="text-xs text-muted">
            {saving.isSuccess ? 'Password changed.' : ''}
          </span>
          <Button type="submit" look="primary" disabled={saving.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </Card>
  )
}
